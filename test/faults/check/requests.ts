import type { Ride } from '../../../shared/rides/ride-types.ts';
import { type Fault, overlaps } from '../faults-log.ts';
import type { Answered, Call } from '../load/request.ts';

/** MongoDB away is answered within 3 s; a busy machine may add a little, a hang is far more. */
const hangMs = 5_000;
/** Everything is normal again so soon after MongoDB's return: what has waited meanwhile comes all at once. */
const recoveryMs = 10_000;

/** How answers to partners broke a promise, or do not agree with what is stored. */
export function requestViolations(
  journal: readonly Call[],
  rides: readonly Ride[],
  faults: readonly Fault[],
): string[] {
  const violations: string[] = [];
  const byId = new Map(rides.map((ride) => [ride._id, ride]));
  for (const call of journal) {
    const say = (what: string) => violations.push(`${call.tag}, ${call.operation} at ${call.api}, ${call.at}: ${what}`);
    const fault = faultOf(call, faults);
    if (fault) say(fault);
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
  for (const [tag, count] of ridesByTag(rides)) if (count > 1) violations.push(`${tag} made ${count} rides`);
  return violations;
}

const expectedStatuses: Record<Call['operation'], readonly number[]> = {
  create: [201, 429, 500, 503, 0],
  retrieve: [200, 500, 503, 0],
  offers: [200, 500, 503, 0],
  accept: [200, 409, 500, 503, 0],
  cancel: [200, 409, 500, 503, 0],
  raise: [200, 409, 500, 503, 0],
  step: [200, 409, 500, 503, 0],
};

/** What is wrong with an answer of the API, whoever asked: it took too long, is missing, a 5xx or no JSON without a reason. */
export function faultOf(call: Answered & { api: string }, faults: readonly Fault[], waitMs = 0): string | undefined {
  const fault = serverFaultOf(call, faults, waitMs);
  const isEmpty = call.status === 0 || call.status === 204;
  return fault ?? (!isEmpty && call.body === undefined ? `was answered ${call.status} without JSON` : undefined);
}

type Asked = Pick<Answered, 'status' | 'at' | 'ms'> & { api: string; text?: string };

/** The same for any answer, also a page. `waitMs` is how long a long poll may wait for events. */
export function serverFaultOf(call: Asked, faults: readonly Fault[], waitMs = 0): string | undefined {
  if (call.ms - waitMs - standstillMs(call, faults) > hangMs) return `took ${call.ms} ms`;
  if (call.status === 0 && !isExcused(call, faults, 'api')) return `had no answer: ${call.text}`;
  if (call.status >= 500 && !isExcused(call, faults, 'mongo')) return `was answered ${call.status}`;
  return undefined;
}

/** For how long this process, which measures the call, stood still meanwhile. */
function standstillMs({ at, ms }: Asked, faults: readonly Fault[]): number {
  return faults
    .filter((fault) => fault.hit === 'machine' && overlaps(fault, at, at + ms))
    .reduce((sum, { from, until }) => sum + Math.min(until, at + ms) - Math.max(from, at), 0);
}

/** No answer is excused by the end of the process that was asked, a 5xx by MongoDB's being away. */
function isExcused(call: Asked, faults: readonly Fault[], hit: 'api' | 'mongo'): boolean {
  return faults.some(
    (fault) =>
      (fault.hit === hit || (fault.hit === 'step' && hit === 'mongo')) &&
      (hit === 'mongo' || fault.name === call.api) &&
      overlaps({ ...fault, until: fault.until + (fault.hit === 'mongo' ? recoveryMs : 0) }, call.at, call.at + call.ms),
  );
}

/** A creation's tag is the first word of the ride's notes. */
function ridesByTag(rides: readonly Ride[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { notes = '' } of rides) {
    const [tag = ''] = notes.split(' ');
    // A ride of the console has no notes.
    if (tag !== '') counts.set(tag, (counts.get(tag) ?? 0) + 1);
  }
  return counts;
}
