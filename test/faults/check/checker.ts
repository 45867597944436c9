import type { Config } from '../../../shared/base/config.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import type { Fault } from '../faults-log.ts';
import type { FleetLog } from '../load/fleet.ts';
import type { Call } from '../load/request.ts';
import type { Manner, Receipt } from '../world/receivers.ts';
import { type BesideEvidence, besideViolations } from './beside.ts';
import { copyViolations, deliveryViolations } from './deliveries.ts';
import { driverViolations } from './drivers.ts';
import { groupBy } from './grouped.ts';
import { lifecycleViolations } from './lifecycle.ts';
import { openingViolations } from './openings.ts';
import { requestViolations } from './requests.ts';
import { successorViolations } from './successors.ts';

/**
 * The evidence of a run: MongoDB's contents, the receivers' logs, the partners' journals, and the collected texts, such
 * as logs.
 */
export interface Evidence {
  rides: Ride[];
  receipts: Receipt[];
  /** The copies that further endpoints got, and the keys that have one. */
  copies: Receipt[];
  copied: ReadonlySet<string>;
  journal: Call[];
  /** The faults that the suite made. */
  faults: Fault[];
  /** Times in which the machine stood still. They excuse whatever an injected fault excuses. */
  standstills: Fault[];
  /** What the drivers of live rides did and were shown. */
  fleet: FleetLog;
  /** How the receiver of each key answers. */
  manners: Map<string, Manner | 'none'>;
  /** Logs, Redis and the bodies of errors. They must not contain any of the secrets. */
  texts: { where: string; text: string }[];
  /** Values that must not occur in the texts. Violations print `what`, never the value. */
  secrets: { what: string; value: string }[];
  /** Speed factor of the simulated drivers. */
  speed: number;
  /** When the dispatch rounds of live rides are due. */
  dispatch: Config['dispatch'];
  /** Set if the run had people, feed readers and old rides. */
  beside?: BesideEvidence;
  /** Processes that ended unexpectedly. */
  crashes: string[];
}

/** The checker: returns one line for each broken promise, or an empty array if all were kept. */
export function violationsIn(evidence: Evidence): string[] {
  const { rides, receipts, journal, manners } = evidence;
  const faults = [...evidence.faults, ...evidence.standstills];
  const ofRide = groupBy(receipts, ({ rideId }) => rideId);
  return [
    ...requestViolations(journal, rides, faults),
    ...rides.flatMap((ride) => [
      ...lifecycleViolations(ride),
      ...deliveryViolations(ride, ofRide.get(ride._id) ?? [], manners.get(ride.keyId) ?? 'none', faults),
    ]),
    ...copyViolations(evidence, faults),
    ...openingViolations(rides, journal, faults),
    ...successorViolations(rides, receipts),
    ...driverViolations({ ...evidence, faults }),
    ...(evidence.beside ? besideViolations(evidence.beside, { rides, receipts, journal, faults }) : []),
    ...leaks(evidence),
    ...evidence.crashes.map((crash) => `a process ended unexpectedly: ${crash}`),
  ];
}

function leaks({ texts, secrets }: Evidence): string[] {
  return texts.flatMap(({ where, text }) =>
    secrets.filter(({ value }) => text.includes(value)).map(({ what }) => `${what} is in ${where}`),
  );
}
