import mongoose from 'mongoose';
import { collection, recordSchema } from '../base/mongo/collection.ts';
import type { TripTotal } from './trips.ts';

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
  /** The closed months with trips. Their lines are stored (statement-parts.ts) and never change. */
  statements?: Record<string, StatementTotal>;
  /** The start of the first month that may not be closed yet. */
  closedThrough?: Date;
}

/** The total of a closed month. `parts` is the number of documents that contain its lines. */
interface StatementTotal extends TripTotal {
  parts: number;
}

const tripSumsSchema = recordSchema();

export const TripSumsModel = mongoose.model('TripSums', tripSumsSchema, 'trip_sums');
export const tripSums = collection<TripSums>(TripSumsModel);
