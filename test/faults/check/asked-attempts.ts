import { eventId } from '../../../shared/base/ids.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import type { AttemptRecord } from '../../../shared/webhooks/attempts.ts';
import type { Fault } from '../faults-log.ts';
import type { Press } from '../load/person.ts';
import type { Call } from '../load/request.ts';
import type { Receipt } from '../world/receivers.ts';
import { excuseOf } from './deliveries.ts';
import { groupBy } from './grouped.ts';

/** The resends and test events of a run: what people requested, what MongoDB recorded, and what receivers got. */
export interface AskedEvidence {
  rides: readonly Ride[];
  /** The recorded resends and test events. */
  attempts: readonly AttemptRecord[];
  asked: readonly Receipt[];
  presses: readonly Press[];
  faults: readonly Fault[];
  journal: readonly Call[];
}

/**
 * Violations in resends and test events: each must be sent once, recorded, marked, and sent no more often than
 * requested.
 */
export function askedViolations(evidence: AskedEvidence): string[] {
  const { rides, attempts } = evidence;
  const byId = new Map(rides.map((ride) => [ride._id, ride]));
  const byEvent = groupBy(attempts, idOf);
  return [
    ...attempts.flatMap((row) => (row.state === 'done' && row.outcome !== 'waiting' ? [] : [`${row._id} is not done`])),
    ...[...byEvent].flatMap(([event, rows]) => receiptViolations(event, rows, evidence)),
    ...evidence.asked.flatMap((receipt) => {
      const { kind, keyId, seq, isSigned, body, rideId } = receipt;
      const say = (what: string) => [`${kind} ${receipt.eventId} of ${keyId} ${what}`];
      const sent = byId.get(rideId)?.events[seq - 1]?.body;
      return [
        ...(isSigned ? [] : say('arrived with a wrong signature')),
        ...(byEvent.has(receipt.eventId) ? [] : say('arrived, but nobody requested it')),
        ...(kind === 'redelivery' && body !== sent ? say('arrived with a body that is not the recorded one') : []),
      ];
    }),
    ...orderViolations(attempts),
    ...pressViolations(evidence),
    ...lostResends(evidence),
  ];
}

const idOf = ({ _id, rideId, seq }: AttemptRecord): string =>
  rideId === undefined ? eventId(_id, 1) : eventId(rideId, seq ?? 0);

/** Each answered attempt must have been received, and no more attempts received than requested. */
function receiptViolations(event: string, rows: readonly AttemptRecord[], { asked, faults }: AskedEvidence): string[] {
  const received = asked.filter((receipt) => receipt.eventId === event);
  const answered = rows.filter(({ httpStatus, outcome }) => httpStatus !== undefined || outcome === 'delivered');
  const repeats = received.filter((receipt) => excuseOf(receipt, faults)).length;
  const say = (what: string) => [`the ${rows[0]?.kind} of ${event} ${what}, and arrived ${received.length} times`];
  return [
    ...(received.length < answered.length ? say(`is recorded ${answered.length} times`) : []),
    ...(received.length > rows.length + repeats ? say(`was requested ${rows.length} times`) : []),
  ];
}

/** The resends that one press creates for a ride must start in the order of their events. */
function orderViolations(attempts: readonly AttemptRecord[]): string[] {
  const inOrder = attempts
    .filter(({ kind, startedAt }) => kind === 'redelivery' && startedAt)
    .sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
  const ofPress = groupBy(inOrder, ({ rideId, requestId }) => `${rideId} ${requestId}`);
  return [...ofPress.values()].flatMap((rows) =>
    rows.flatMap((row, index) => {
      const before = rows[index - 1];
      const isWrong = before?.startedAt && row.startedAt && row.startedAt < before.startedAt;
      return isWrong ? [`${row.rideId}: the resend of event ${row.seq} began before that of event ${before.seq}`] : [];
    }),
  );
}

/** A resend that the API has acknowledged must be recorded. */
function lostResends({ journal, attempts }: AskedEvidence): string[] {
  const resent = new Set(attempts.flatMap(({ kind, rideId }) => (kind === 'redelivery' && rideId) || []));
  return journal.flatMap(({ operation, status, rideId = '' }) =>
    operation === 'resend' && status === 200 && !resent.has(rideId)
      ? [`${rideId}: an acknowledged resend is lost`]
      : [],
  );
}

const isAsking = ({ button }: Press): boolean => ['resend', 'resend failed', 'test event'].includes(button);

/**
 * Checks that each effect occurred once. An effect has several presses if two people press the button at the same
 * moment.
 */
function pressViolations({ presses, attempts }: AskedEvidence): string[] {
  const effects = groupBy(presses.filter(isAsking), ({ effect }) => effect);
  return [...effects].flatMap(([effect, own]) => {
    const ids = new Set(own.flatMap(({ tries }) => tries.flatMap(({ requestId }) => requestId || [])));
    const isTest = own[0]?.button === 'test event';
    const rows = attempts.filter(({ requestId = '', kind, keyId }) =>
      isTest ? kind === 'test' && keyId === own[0]?.about : ids.has(requestId),
    );
    const say = (what: string) => [`${own[0]?.button} (${effect}): ${what}`];
    if (isTest && rows.length === 0 && own.some(({ status }) => status === 303)) return say('nothing was sent');
    if (isTest && rows.length > 1) return say(`one form sent ${rows.length} test events`);
    return [...pendingTwice(rows, own)].flatMap((event) => say(`${event} had two pending resends`));
  });
}

/** The events for which a second resend was requested while the first was pending. */
function pendingTwice(rows: readonly AttemptRecord[], presses: readonly Press[]): Set<string> {
  const answeredAt = Math.max(...presses.flatMap(({ tries }) => tries.map(({ at, ms }) => at + ms)));
  const pending = rows.filter(({ startedAt, durationMs = 0 }) => (startedAt?.getTime() ?? 0) + durationMs > answeredAt);
  const byEvent = groupBy(pending, idOf);
  return new Set([...byEvent].flatMap(([event, all]) => (all.length > 1 ? [event] : [])));
}
