import mongoose from 'mongoose';
import type { Point } from '../base/great-circle.ts';
import { sha256 } from '../base/ids.ts';
import { collection } from '../base/mongo/collection.ts';
import type { CarType } from '../base/terms.ts';
import { cellAt } from '../drivers/cells.ts';

/** Prices per km of the completed live rides that were created on one day, for one car type and one pickup cell. */
export interface FareDay {
  _id: string;
  /** `2026-11-05` */
  day: string;
  trips: number;
  /** The trips by account. The code does not reveal the account. */
  accounts: { code: string; trips: number }[];
  /** Histogram: price step -> trips. It does not connect prices with accounts. */
  prices: { step: number; trips: number }[];
}

/**
 * Minimums of a hint, so that it reveals no partner's prices: trips, accounts, and the maximum share of one account.
 */
export const leastTrips = 20;
export const leastAccounts = 10;
export const mostOfOneAccount = 1 / 3;

/** The code of an account in the counts of a place: the same every day, but different at every place. */
export const accountCode = (place: string, accountId: string): string => sha256(`${place} ${accountId}`).slice(0, 12);

/** The number of days that a hint uses. */
export const keptDays = 28;

const cellKm = 5;
/** Different from the levels of the drivers' cells (drivers/cells.ts). */
const cellLevel = 5;

/**
 * The id of the place where a pickup is counted: a fixed cell, so that a hint reveals nothing about places within it.
 */
export const placeOf = (pickup: Point, carType: CarType): string => `${cellAt(pickup, cellKm, cellLevel)}_${carType}`;

/**
 * Sorts by place and then by day, so that the days of a place are one range. Earlier versions stored counts of accepted
 * offers, with account ids, under ids that begin with a digit. Hints ignore these.
 */
export const fareDayId = (place: string, day: string): string => `completed_${place}_${day}`;
export const ofEarlierVersions = { _id: { $lt: ':' } } as const;

/** Prices are counted in steps of 5 %. */
const stepFactor = Math.log(1.05);
export const stepOf = (perKm: number): number => Math.round(Math.log(perKm) / stepFactor);
export const priceOf = (step: number): number => Math.exp(step * stepFactor);

const fareDaySchema = new mongoose.Schema({ _id: String }, { strict: false, versionKey: false, autoIndex: false });
fareDaySchema.index({ day: 1 });
export const FareDayModel = mongoose.model('FareDay', fareDaySchema, 'fare_days');
export const fareDays = collection<FareDay>(FareDayModel);

/** The progress of the counts. One document. */
interface FareProgress {
  /** Earlier versions use the id `fares`. */
  _id: 'completed';
  /** Every day before this time is counted. */
  through: Date;
}

const progressSchema = new mongoose.Schema({ _id: String }, { strict: false, versionKey: false, autoIndex: false });
export const FareProgressModel = mongoose.model('FareProgress', progressSchema, 'fare_progress');
export const fareProgress = collection<FareProgress>(FareProgressModel);
