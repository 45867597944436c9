import type { Config } from '../../../shared/base/config.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import type { Fault } from '../faults-log.ts';
import type { FleetLog } from '../load/fleet.ts';
import type { Call } from '../load/request.ts';
import type { Manner, Receipt } from '../world/receivers.ts';
import { type BesideEvidence, besideViolations } from './beside.ts';
import { deliveryViolations } from './deliveries.ts';
import { driverViolations } from './drivers.ts';
import { lifecycleViolations } from './lifecycle.ts';
import { requestViolations } from './requests.ts';

/** All that is left of a run: MongoDB, the receivers' logs, the partners' journals, and every text that was kept. */
export interface Evidence {
  rides: Ride[];
  receipts: Receipt[];
  journal: Call[];
  /** What was done to the service. */
  faults: Fault[];
  /** What the machine did to it: it excuses the same. */
  standstills: Fault[];
  /** What the drivers of live rides did and were shown. */
  fleet: FleetLog;
  /** How the receiver of each key answers. */
  manners: Map<string, Manner | 'none'>;
  /** Logs, Redis and the bodies of errors: none of the secrets may be in them. */
  texts: { where: string; text: string }[];
  /** What must be nowhere in the texts, with how to call it: a violation must not quote it. */
  secrets: { what: string; value: string }[];
  /** How much quicker than real the simulated drivers were. */
  speed: number;
  /** When the rounds of live rides are due. */
  dispatch: Config['dispatch'];
  /** Where the run had people, feed readers and old rides. */
  beside?: BesideEvidence;
  /** Processes that ended without being told to. */
  crashes: string[];
}

/** THE checker: one line for each promise that the evidence shows broken; none where all were kept. */
export function violationsIn(evidence: Evidence): string[] {
  const { rides, receipts, journal, manners } = evidence;
  const faults = [...evidence.faults, ...evidence.standstills];
  const ofRide = new Map<string, Receipt[]>();
  for (const receipt of receipts) ofRide.set(receipt.rideId, [...(ofRide.get(receipt.rideId) ?? []), receipt]);
  return [
    ...requestViolations(journal, rides, faults),
    ...rides.flatMap((ride) => [
      ...lifecycleViolations(ride),
      ...deliveryViolations(ride, ofRide.get(ride._id) ?? [], manners.get(ride.keyId) ?? 'none', faults),
    ]),
    ...driverViolations({ ...evidence, faults }),
    ...(evidence.beside ? besideViolations(evidence.beside, { rides, receipts, journal, faults }) : []),
    ...leaks(evidence),
    ...evidence.crashes.map((crash) => `a process ended by itself: ${crash}`),
  ];
}

function leaks({ texts, secrets }: Evidence): string[] {
  return texts.flatMap(({ where, text }) =>
    secrets.filter(({ value }) => text.includes(value)).map(({ what }) => `${what} stands in ${where}`),
  );
}
