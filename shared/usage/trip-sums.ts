import mongoose from 'mongoose';
import { collection, recordSchema } from '../base/mongo/collection.ts';
import type { TripLine, TripTotal } from './trips.ts';

/**
 * The completed live trips of one account, summed by the day on which they ended, and the statements of its closed
 * months. Like RideSums, this is one document, so that a trip is either in the sums or counted from the rides.
 */
export interface TripSums {
  /** The account's id. */
  _id: string;
  /** The start of a day: trips that ended before it are in the sums. */
  through: Date;
  /** The trips by month (`2026-11`) and day (`05`), without days that have no trips. */
  months: Record<string, Record<string, TripTotal>>;
  /** The closed months with trips. Their lines are stored (StatementPart) and never change. */
  statements?: Record<string, StatementTotal>;
  /** The start of the first month that may not be closed yet. */
  closedThrough?: Date;
}

/** The total of a closed month. `parts` is the number of documents that contain its lines. */
interface StatementTotal extends TripTotal {
  parts: number;
}

export const TripSumsModel = mongoose.model('TripSums', recordSchema(), 'trip_sums');
export const tripSums = collection<TripSums>(TripSumsModel);

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
