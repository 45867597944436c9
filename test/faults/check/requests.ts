import type { Ride } from '../../../shared/rides/ride-types.ts';
import { scaled } from '../../support/machine-speed.ts';
import { type Fault, overlaps } from '../faults-log.ts';
import type { Answer, Call } from '../load/request.ts';
import { groupBy } from './grouped.ts';

/** Without MongoDB, the API answers within 3 s. A busy machine needs a little longer; a hang takes much longer. */
export const hangMs = scaled(5_000);
/** Time until all is normal after MongoDB returns: the waiting requests then arrive all at once. */
const recoveryMs = 10_000;

/** Violations in answers to partners, including answers that contradict the stored rides. */
export function requestViolations(
  journal: readonly Call[],
  rides: readonly Ride[],
  faults: readonly Fault[],
): string[] {
  const violations: string[] = [];
  const byId = new Map(rides.map((ride) => [ride._id, ride]));
  const refusals = plannedRefusals(journal);
  for (const call of journal) {
    const say = (what: string) => violations.push(`${call.tag}, ${call.operation} at ${call.api}, ${call.at}: ${what}`);
    const fault = faultOf(call, faults);
    if (fault && !refusals.has(call)) say(fault);
    if (!expectedStatuses[call.operation].includes(call.status)) say(`was answered ${call.status}`);
    if (call.status >= 300) continue;
    const ride = call.rideId === undefined ? undefined : byId.get(call.rideId);
    if (call.status === 201 && !ride) say(`201, but there is no ride ${call.rideId}`);
    if (call.operation === 'accept' && call.status === 200 && ride?.acceptedOfferId !== call.offerId) {
      say(`accepted ${call.offerId}, but the ride has ${ride?.acceptedOfferId}`);
    }
    if (call.operation === 'cancel' && call.status === 200 && ride?.cancelledBy !== 'partner') {
      say(`cancelled, but the ride is ${ride?.status} by ${ride?.cancelledBy}`);
    }
  }
  violations.push(...replayViolations(journal), ...missedRefusals(journal));
  for (const [tag, count] of ridesByTag(rides)) if (count > 1) violations.push(`${tag} made ${count} rides`);
  return violations;
}

/** Of the creations that were answered with the same ride, one at most is no replay. A replay repeats an earlier request. */
function replayViolations(journal: readonly Call[]): string[] {
  const answered = journal.filter(({ operation, status }) => operation === 'create' && status === 201);
  const asked = new Map<string, number>();
  for (const { operation, tag, at } of journal) {
    if (operation === 'create') asked.set(tag, Math.min(at, asked.get(tag) ?? at));
  }
  return [...groupBy(answered, ({ rideId = '' }) => rideId)].flatMap(([rideId, calls]) => {
    const created = calls.filter(({ isReplay }) => !isReplay).length;
    const first = calls.find(({ isReplay, tag, at }) => isReplay && asked.get(tag) === at);
    return [
      ...(created > 1 ? [`${rideId}: ${created} answers to its creation are not marked as replays`] : []),
      ...(first ? [`${rideId}: the first request of ${first.tag} was answered as a replay`] : []),
    ];
  });
}

const refusedWith = new Map<string | undefined, number>([
  ['rate_limited', 429],
  ['unavailable', 503],
]);

/** The first refusal of each creation in a scenario that refuses the first request. */
function plannedRefusals(journal: readonly Call[]): Set<Call> {
  const ofTag = new Map<string, Call>();
  for (const call of journal) {
    const isPlanned = call.operation === 'create' && refusedWith.get(call.scenario) === call.status;
    if (isPlanned && !ofTag.has(call.tag)) ofTag.set(call.tag, call);
  }
  return new Set(ofTag.values());
}

/** Such a scenario must not answer 201 to the first request of a creation. */
function missedRefusals(journal: readonly Call[]): string[] {
  const creations = journal.filter(({ operation, scenario }) => operation === 'create' && refusedWith.has(scenario));
  return [...groupBy(creations, ({ tag }) => tag)].flatMap(([tag, [first]]) =>
    first?.status === 201 ? [`${tag}: the first request was not refused, in the scenario ${first.scenario}`] : [],
  );
}

const expectedStatuses: Record<Call['operation'], readonly number[]> = {
  create: [201, 429, 500, 503, 0],
  retrieve: [200, 500, 503, 0],
  offers: [200, 500, 503, 0],
  accept: [200, 409, 500, 503, 0],
  cancel: [200, 409, 500, 503, 0],
  raise: [200, 409, 500, 503, 0],
  step: [200, 409, 500, 503, 0],
  tell: [200, 409, 500, 503, 0],
  resend: [200, 404, 409, 500, 503, 0],
};

/**
 * Names what is wrong with an API answer: too slow, missing, a 5xx without an excuse, or no JSON. Undefined if it is
 * correct.
 */
export function faultOf(call: Answer & { api: string }, faults: readonly Fault[], waitMs = 0): string | undefined {
  const fault = serverFaultOf(call, faults, waitMs);
  const isEmpty = call.status === 0 || call.status === 204;
  return fault ?? (!isEmpty && call.body === undefined ? `was answered ${call.status} without JSON` : undefined);
}

type TimedAnswer = Pick<Answer, 'status' | 'at' | 'ms'> & { api: string; text?: string };

/** Like `faultOf`, but also for pages, which are not JSON. `waitMs` is the longest wait of a long poll. */
export function serverFaultOf(call: TimedAnswer, faults: readonly Fault[], waitMs = 0): string | undefined {
  if (call.ms - waitMs - standstillMs(call, faults) > hangMs) return `took ${call.ms} ms`;
  if (call.status === 0 && !isExcused(call, faults, 'api')) return `had no answer: ${call.text}`;
  if (call.status >= 500 && !isExcused(call, faults, 'mongo')) return `was answered ${call.status}`;
  return undefined;
}

/** How long this process, which measures the call, stood still during the call, in ms. */
function standstillMs({ at, ms }: TimedAnswer, faults: readonly Fault[]): number {
  return faults
    .filter((fault) => fault.hit === 'machine' && overlaps(fault, at, at + ms))
    .reduce((sum, { from, until }) => sum + Math.min(until, at + ms) - Math.max(from, at), 0);
}

/** The end of the called process excuses a missing answer; an outage of MongoDB excuses a 5xx. */
function isExcused(call: TimedAnswer, faults: readonly Fault[], hit: 'api' | 'mongo'): boolean {
  return faults.some(
    (fault) =>
      fault.hit === hit &&
      (hit === 'mongo' || fault.name === call.api) &&
      overlaps({ ...fault, until: fault.until + (fault.hit === 'mongo' ? recoveryMs : 0) }, call.at, call.at + call.ms),
  );
}

/** A creation's tag is the first word of the ride's notes. */
function ridesByTag(rides: readonly Ride[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { notes = '', replaces } of rides) {
    // A successor has the notes of the ride that it replaces.
    if (replaces) continue;
    const [tag = ''] = notes.split(' ');
    // Rides of the console have no notes.
    if (tag !== '') counts.set(tag, (counts.get(tag) ?? 0) + 1);
  }
  return counts;
}
