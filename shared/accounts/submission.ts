import mongoose from 'mongoose';

/**
 * A form of the dashboard that a process of an earlier version has recorded before its effect. This version writes the name of
 * a form together with its effect (sent-form.ts), and only deletes these rows once they have expired (workers/retention).
 */
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
