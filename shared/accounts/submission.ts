import mongoose from 'mongoose';

/** A form of the dashboard that was sent. Each shown form has an id of its own, so that sending it again changes nothing. */
interface Submission {
  _id: { accountId: string; formId: string };
  /** What the form made or changed, for example the id of a key. */
  about: string;
  expiresAt: Date;
}

const submissionSchema = new mongoose.Schema<Submission>(
  {
    _id: { accountId: { type: String, required: true }, formId: { type: String, required: true } },
    about: { type: String, required: true },
    expiresAt: { type: Date, required: true },
  },
  { versionKey: false, autoIndex: false },
);
submissionSchema.index({ expiresAt: 1 });

export const SubmissionModel = mongoose.model<Submission>('Submission', submissionSchema, 'submissions');
const submissions = SubmissionModel.collection as unknown as mongoose.mongo.Collection<Submission>;

/** A form that was left open for longer can be sent, and then counts as new. */
const keptMs = 7 * 24 * 3_600_000;
const duplicateKey = 11_000;

/**
 * Notes that an account sends a form, before the form takes effect. Resolves with null the first time, and with what the
 * first sending was about when the same form is sent again: by a double click, a reload or the Back button.
 */
export async function earlierSubmission(
  accountId: string,
  formId: string,
  about: string,
  nowMs: number,
): Promise<string | null> {
  const _id = { accountId, formId };
  try {
    await submissions.insertOne({ _id, about, expiresAt: new Date(nowMs + keptMs) });
    return null;
  } catch (error) {
    if ((error as { code?: number }).code !== duplicateKey) throw error;
    const earlier = await submissions.findOne({ _id });
    return earlier?.about ?? about;
  }
}
