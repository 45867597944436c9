import mongoose from 'mongoose';
import { collection } from '../base/mongo/collection.ts';
import type { TripLine } from './trips.ts';

/** The maximum number of lines of one document, and of one page of a statement. */
export const linesPerPart = 500;

/** A part of the statement of a closed month. Lines are ordered by the trips' ends. */
interface StatementPart {
  _id: { accountId: string; month: string; part: number };
  lines: TripLine[];
}

const partSchema = new mongoose.Schema(
  { _id: { accountId: String, month: String, part: Number } },
  { strict: false, versionKey: false, autoIndex: false },
);

export const StatementPartModel = mongoose.model('StatementPart', partSchema, 'statement_parts');
export const statementParts = collection<StatementPart>(StatementPartModel);
