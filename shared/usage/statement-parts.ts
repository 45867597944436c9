import mongoose from 'mongoose';
import { collection } from '../base/mongo/collection.ts';
import type { TripLine } from './trips.ts';

/** A document holds so many lines, and a page of a statement shows as many. */
export const linesPerPart = 500;

/** Some lines of the statement of a closed month, in the order of the trips' ends. */
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
