import type { Context } from '../../shared/base/context.ts';
import { type CreationFields, createRide, findReplay, type NewRide } from '../../shared/rides/create-ride.ts';
import type { ChangeSteps } from '../http/route.ts';
import { limitCreations } from './rate-limit.ts';

/** How a process creates rides: for the API and for the dashboard's test console, with one limit for both. */
export type RideCreation = Required<ChangeSteps<NewRide, CreationFields>>;

/** The steps of a creation after its validation (contract, sections 4.1 and 8). */
export function rideCreation(service: Context): RideCreation {
  return {
    replay: (ride) => findReplay(service, ride),
    limit: limitCreations(service),
    act: (ride) => createRide(service, ride),
  };
}
