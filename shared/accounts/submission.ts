import mongoose from 'mongoose';

/**
 * A document of an earlier version, which recorded each dashboard form before applying it. This version stores the
 * form's id together with the change that the form makes (sent-form.ts). It only deletes the expired documents of
 * earlier versions (workers/periodic/retention).
 */
interface Submission {
  _id: { accountId: string; formId: string };
  /** The subject of the form, for example the id of a key. */
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
