import mongoose from 'mongoose';
import type { CarType } from '../car-types.ts';
import { cellAt } from '../drivers/cells.ts';
import type { Point } from '../haversine.ts';

/** What was agreed per km for the live rides of one day, one car type and one cell by their pickup. */
export interface FareDay {
  _id: string;
  /** `2026-11-05` */
  day: string;
  trips: number;
  /** Whose rides they are: the ids of at most `leastAccounts` accounts. */
  accounts: string[];
  /** How many trips came to which price. */
  prices: { step: number; trips: number }[];
}

/** A hint is given from so many trips of so many accounts on, so that no partner's trip can be recognised. */
export const leastTrips = 20;
export const leastAccounts = 5;

/** A hint is made of so many days. */
export const keptDays = 28;

const cellKm = 5;
/** Unlike the levels of the drivers' cells. */
const cellLevel = 5;

/** Where the rides of a pickup are counted: a fixed cell, so that a hint says nothing of a place within it. */
export const placeOf = (pickup: Point, carType: CarType): string => `${cellAt(pickup, cellKm, cellLevel)}_${carType}`;

/** Sorts by place and then by day, so that the days of a place are one range. */
export const fareDayId = (place: string, day: string): string => `${place}_${day}`;

/** Prices are counted in steps of 1 %. */
const stepFactor = Math.log(1.01);
export const stepOf = (perKm: number): number => Math.round(Math.log(perKm) / stepFactor);
export const priceOf = (step: number): number => Math.exp(step * stepFactor);

const fareDaySchema = new mongoose.Schema({ _id: String }, { strict: false, versionKey: false, autoIndex: false });
fareDaySchema.index({ day: 1 });
export const FareDayModel = mongoose.model('FareDay', fareDaySchema, 'fare_days');
export const fareDays = FareDayModel.collection as unknown as mongoose.mongo.Collection<FareDay>;

/** How far the days are counted. One document. */
interface FareProgress {
  _id: 'fares';
  /** Every day before this time is counted. */
  through: Date;
}

const progressSchema = new mongoose.Schema({ _id: String }, { strict: false, versionKey: false, autoIndex: false });
export const FareProgressModel = mongoose.model('FareProgress', progressSchema, 'fare_progress');
export const fareProgress = FareProgressModel.collection as unknown as mongoose.mongo.Collection<FareProgress>;
