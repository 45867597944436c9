import type { Ride } from '../../../shared/rides/ride-types.ts';
import type { Fault } from '../faults-log.ts';
import type { FeedReader } from '../load/feed-readers.ts';
import { faultOf } from './requests.ts';

/** Longest wait of a long poll for events. The answer comes soon after that. */
const pollMs = 2_000;

/**
 * Violations in event feeds: a reader that follows the cursor must get every event of the key exactly once, the events
 * of a ride in order, and the same order as all other readers.
 */
export function feedViolations(
  readers: readonly FeedReader[],
  rides: readonly Ride[],
  faults: readonly Fault[],
): string[] {
  return [
    ...readers.flatMap((reader) => [
      ...answerViolations(reader, faults),
      ...completeness(reader, rides),
      ...orderOfRides(reader),
    ]),
    ...sameOrder(readers),
  ];
}

const nameOf = ({ keyId, from }: FeedReader): string => `the feed of ${keyId}, read from ${from}`;
const idOf = ({ rideId, seq }: { rideId: string; seq: number }): string => `${rideId}_${seq}`;

function answerViolations(reader: FeedReader, faults: readonly Fault[]): string[] {
  return reader.calls.flatMap((call) => {
    const fault = faultOf(call, faults, pollMs);
    const isExpected = [200, 500, 503, 0].includes(call.status);
    const what = fault ?? (isExpected ? undefined : `was answered ${call.status}`);
    return what ? [`${nameOf(reader)}, at ${call.api}, ${call.at}: ${what}`] : [];
  });
}

function completeness(reader: FeedReader, rides: readonly Ride[]): string[] {
  const shown = new Map<string, number>();
  for (const event of reader.events) shown.set(idOf(event), (shown.get(idOf(event)) ?? 0) + 1);
  const stored = rides
    .filter(({ keyId }) => keyId === reader.keyId)
    .flatMap(({ _id: rideId, createdAt, events }) =>
      events.map(({ seq }) => ({ id: idOf({ rideId, seq }), isWanted: isAfterBegin(reader, createdAt) })),
    );
  const known = new Set(stored.map(({ id }) => id));
  return [
    ...stored.filter(({ id, isWanted }) => isWanted && !shown.has(id)).map(({ id }) => `never showed ${id}`),
    ...[...shown].filter(([, count]) => count > 1).map(([id, count]) => `showed ${id} ${count} times`),
    ...[...shown.keys()].filter((id) => !known.has(id)).map((id) => `showed ${id}, which does not exist`),
  ].map((what) => `${nameOf(reader)} ${what}`);
}

/**
 * A reader gets every event of rides that are newer than itself; of older rides it may have missed the first events.
 */
const isAfterBegin = ({ from, beganAt }: FeedReader, createdAt: Date): boolean =>
  from === 'start' || createdAt.getTime() > beganAt;

function orderOfRides(reader: FeedReader): string[] {
  const last = new Map<string, number>();
  return reader.events.flatMap(({ rideId, seq }) => {
    const before = last.get(rideId) ?? 0;
    last.set(rideId, seq);
    return before > seq ? [`${nameOf(reader)} showed event ${seq} of ${rideId} after event ${before}`] : [];
  });
}

/** Two readers of a key must get their common events in the same order. */
function sameOrder(readers: readonly FeedReader[]): string[] {
  return readers
    .filter(({ from }) => from === 'start')
    .flatMap((reader) => {
      const indexes = new Map(reader.events.map((event, index) => [idOf(event), index]));
      const others = readers.filter(({ keyId, from }) => keyId === reader.keyId && from !== 'start');
      return others.flatMap((other) => {
        const inOrder = other.events.flatMap((event) => indexes.get(idOf(event)) ?? []);
        const wrong = inOrder.findIndex((position, index) => position < (inOrder[index - 1] ?? -1));
        return wrong < 0 ? [] : [`${nameOf(other)} has a different order than the feed read from the start`];
      });
    });
}
