import mongoose from 'mongoose';
import { collection } from '../base/mongo/collection.ts';
import type { TripTotal } from './trips.ts';

/**
 * The completed live trips of one account, summed by the day of their end, and the statements of its closed months. One
 * document, as with the sums of a key's rides: a trip is either in the sums or counted from the rides.
 */
export interface TripSums {
  /** The account's id. */
  _id: string;
  /** The start of a day: trips that ended before it are in the sums. */
  through: Date;
  /** By month (`2026-11`) and day (`05`). Days without trips are left out. */
  months: Record<string, Record<string, TripTotal>>;
  /** The closed months that have trips. Their lines are stored (statement-parts.ts) and do not change any more. */
  statements?: Record<string, StatementTotal>;
  /** The start of the first month that may not be closed yet. */
  closedThrough?: Date;
}

/** What a closed month comes to. `parts` says in how many documents its lines are. */
interface StatementTotal extends TripTotal {
  parts: number;
}

const tripSumsSchema = new mongoose.Schema({ _id: String }, { strict: false, versionKey: false, autoIndex: false });

export const TripSumsModel = mongoose.model('TripSums', tripSumsSchema, 'trip_sums');
export const tripSums = collection<TripSums>(TripSumsModel);
