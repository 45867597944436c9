import mongoose from 'mongoose';

/**
 * A dashboard form, as an earlier version recorded it before applying it. This version stores the form's id together
 * with the change that it makes (sent-form.ts). It only deletes these documents once they have expired
 * (workers/periodic/retention).
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
