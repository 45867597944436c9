import mongoose from 'mongoose';
import type { Point } from '../base/great-circle.ts';
import { sha256 } from '../base/ids.ts';
import { collection, recordSchema } from '../base/mongo/collection.ts';
import type { CarType } from '../base/terms.ts';
import { cellAt } from '../drivers/cells.ts';

/** Prices per km of the completed live rides that ended on one day, for one car type and one pickup cell. */
export interface FareDay {
  _id: string;
  /** The day, such as `2026-11-05`. */
  day: string;
  trips: number;
  /** The number of trips of each account. The code does not reveal the account. */
  accounts: { code: string; trips: number }[];
  /** A histogram: the number of trips for each price step. It does not connect prices with accounts. */
  prices: { step: number; trips: number }[];
}

/** A hint needs this many trips and accounts, and no larger share of one account, to reveal no partner's prices. */
export const minTrips = 20;
export const minAccounts = 10;
export const maxAccountShare = 1 / 3;

/** Replaces an account's id in the counts of a place. The code is the same every day, but different at every place. */
export const accountCode = (place: string, accountId: string): string => sha256(`${place} ${accountId}`).slice(0, 12);

/** The number of days that a hint uses. */
export const keptDays = 28;

const cellKm = 5;
/** The level of these cells. Levels 0 to 4 belong to the drivers' cells (drivers/cells.ts). */
const cellLevel = 5;

/** The id of the fixed cell of a pickup, so that a hint reveals nothing about places within the cell. */
export const placeOf = (pickup: Point, carType: CarType): string => `${cellAt(pickup, cellKm, cellLevel)}_${carType}`;

/** The id sorts by place and then by day, so that the days of a place are one range. */
export const fareDayId = (place: string, day: string): string => `completed_${place}_${day}`;

/** Prices are counted in steps of 5 %. */
const stepFactor = Math.log(1.05);
export const stepOf = (perKm: number): number => Math.round(Math.log(perKm) / stepFactor);
export const priceOf = (step: number): number => Math.exp(step * stepFactor);

const fareDaySchema = recordSchema();
fareDaySchema.index({ day: 1 });
export const FareDayModel = mongoose.model('FareDay', fareDaySchema, 'fare_days');
export const fareDays = collection<FareDay>(FareDayModel);

/** The progress of the counts. One document. */
interface FareProgress {
  _id: 'completed';
  /** Every day before this time is counted. */
  through: Date;
}

export const FareProgressModel = mongoose.model('FareProgress', recordSchema(), 'fare_progress');
export const fareProgress = collection<FareProgress>(FareProgressModel);
