import mongoose from 'mongoose';
import type { Point } from '../base/great-circle.ts';
import { sha256 } from '../base/ids.ts';
import { collection } from '../base/mongo/collection.ts';
import type { CarType } from '../base/terms.ts';
import { cellAt } from '../drivers/cells.ts';

/** Prices per km of the completed live rides that were created on one day, for one car type and one cell of pickups. */
export interface FareDay {
  _id: string;
  /** `2026-11-05` */
  day: string;
  trips: number;
  /** The trips of each account. Which account that is, its code does not show. */
  accounts: { code: string; trips: number }[];
  /** Histogram: price step -> trips. Prices and accounts are not connected. */
  prices: { step: number; trips: number }[];
}

/** A hint needs this many trips of this many accounts, none with more than this share, so that it reveals no partner's prices. */
export const leastTrips = 20;
export const leastAccounts = 10;
export const mostOfOneAccount = 1 / 3;

/** Names an account in the counts of a place: the same on every day, another one at every place. */
export const accountCode = (place: string, accountId: string): string => sha256(`${place} ${accountId}`).slice(0, 12);

/** A hint is made of so many days. */
export const keptDays = 28;

const cellKm = 5;
/** Unlike the levels of the drivers' cells. */
const cellLevel = 5;

/** Where the rides of a pickup are counted: a fixed cell, so that a hint says nothing of a place within it. */
export const placeOf = (pickup: Point, carType: CarType): string => `${cellAt(pickup, cellKm, cellLevel)}_${carType}`;

/**
 * Sorts by place and then by day, so that the days of a place are one range. Earlier versions counted accepted offers, with
 * ids of accounts, under ids that begin with a digit. No hint is made of these.
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

/** How far the days are counted. One document. */
interface FareProgress {
  /** An earlier version has its own, `fares`. */
  _id: 'completed';
  /** Every day before this time is counted. */
  through: Date;
}

const progressSchema = new mongoose.Schema({ _id: String }, { strict: false, versionKey: false, autoIndex: false });
export const FareProgressModel = mongoose.model('FareProgress', progressSchema, 'fare_progress');
export const fareProgress = collection<FareProgress>(FareProgressModel);
