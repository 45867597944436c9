import type { Delivery, Ride } from '../../../shared/rides/ride-types.ts';
import { type Fault, overlaps } from '../faults-log.ts';
import type { Manner, Receipt } from '../world/receivers.ts';
import { groupBy } from './grouped.ts';

/** An attempt ends within 8 s. On a busy machine, recording its outcome takes a little longer. */
const attemptMs = 8_000;
const settlingMs = 2_000;

/** Violations in the deliveries of a ride. `receipts` are those of this ride, in the order of their arrival. */
export function deliveryViolations(
  ride: Ride,
  receipts: readonly Receipt[],
  manner: Manner | 'none',
  faults: readonly Fault[],
): string[] {
  const violations: string[] = [];
  const say = (what: string) => violations.push(`${ride._id}: ${what}`);
  if (ride.unsettled !== 0 || ride.settledSeq !== ride.seq) say(`settled up to ${ride.settledSeq} of ${ride.seq}`);
  if (ride.claim) say('is still claimed');

  const first = new Map<number, Receipt>();
  const last = new Map<number, Receipt>();
  for (const [index, receipt] of receipts.entries()) {
    const { seq } = receipt;
    const event = ride.events[seq - 1];
    if (!receipt.isSigned) say(`event ${seq} arrived with a wrong signature`);
    if (receipt.body !== event?.body) say(`event ${seq} arrived with a body that is not the recorded one`);
    const before = last.get(seq);
    const earlier = receipts.slice(0, index).filter((one) => one.seq === seq);
    if (before && !isTwin(ride, seq, earlier, faults) && !excuseOf(before, faults))
      say(`event ${seq} was sent again without a fault`);
    if (!before && Math.max(0, ...first.keys()) > seq) say(`event ${seq} first arrived after a later one`);
    if (!before) first.set(seq, receipt);
    last.set(seq, receipt);
  }
  const second = receipts.filter(({ seq }) => seq === 2);
  if (ride.scenario === 'duplicate_event' && manner === 'prompt' && second.length === 1 && second[0]) {
    if (!excuseOf(second[0], faults)) say('event 2 was not sent twice');
  }
  for (const { seq, delivery } of ride.events) {
    if (!delivery) say(`event ${seq} has no outcome`);
    else if (delivery.outcome === 'delivered' && !first.has(seq))
      say(`event ${seq} is recorded as sent, but never arrived`);
    else if (!isExpected(delivery, manner) && !isDisturbed(delivery, faults)) {
      say(`event ${seq} to a ${manner} receiver is recorded as ${delivery.outcome} ${delivery.reason ?? ''}`);
    }
  }
  return violations;
}

/**
 * Violations in the copies for further endpoints (contract, section 10.22), whose receivers answer at once: each event
 * arrives, as it is recorded, in order, and once unless a fault excuses a repeat. The default URL of the key, which may
 * be slow or broken, does not matter.
 */
export function copyViolations(
  { rides, copies, copied }: { rides: readonly Ride[]; copies: readonly Receipt[]; copied: ReadonlySet<string> },
  faults: readonly Fault[],
): string[] {
  const ofRide = groupBy(copies, ({ rideId }) => rideId);
  return rides
    .filter(({ keyId }) => copied.has(keyId))
    .flatMap((ride) => {
      const own = ofRide.get(ride._id) ?? [];
      const firsts = [...new Set(own.map(({ seq }) => seq))];
      const say = (what: string) => [`${ride._id}: ${what}`];
      return [
        ...(firsts.some((seq, index) => seq < (firsts[index - 1] ?? 0)) ? say('its copies are not in order') : []),
        ...ride.events.flatMap(({ seq, body }) => {
          const received = own.filter((copy) => copy.seq === seq);
          const repeats = received.slice(0, -1).filter((copy) => !excuseOf(copy, faults));
          return [
            ...(received.length === 0 ? say(`the copy of event ${seq} never arrived`) : []),
            ...(repeats.length > 0 ? say(`the copy of event ${seq} was sent again without a fault`) : []),
            ...(received.every((copy) => copy.isSigned) ? [] : say(`the copy of event ${seq} has a wrong signature`)),
            ...(received.every((copy) => copy.body === body) ? [] : say(`the copy of event ${seq} has another body`)),
          ];
        }),
      ];
    });
}

/** The scenario `duplicate_event` sends event 2 twice, and twice again after a fault. `earlier`: its receipts so far. */
const isTwin = ({ scenario }: Ride, seq: number, earlier: readonly Receipt[], faults: readonly Fault[]): boolean =>
  scenario === 'duplicate_event' &&
  seq === 2 &&
  earlier.length < 2 * (1 + earlier.filter((receipt) => excuseOf(receipt, faults)).length);

/**
 * Only a fault of a worker or of MongoDB excuses a second attempt, because it can prevent recording the outcome of the
 * first one.
 */
export function excuseOf(attempt: Receipt, faults: readonly Fault[]): Fault | undefined {
  const until = (attempt.answeredAt ?? attempt.receivedAt + attemptMs) + settlingMs;
  return faults.find((fault) => {
    return (fault.hit === 'worker' || fault.hit === 'mongo') && overlaps(fault, attempt.receivedAt, until);
  });
}

function isExpected({ outcome }: Delivery, manner: Manner | 'none'): boolean {
  switch (manner) {
    case 'none':
      return outcome === 'no_url';
    case 'prompt':
      return outcome === 'delivered';
    case 'slow':
      return outcome === 'delivered' || outcome === 'timeout';
    case 'silent':
      return outcome === 'timeout';
    default:
      return outcome === 'failed';
  }
}

/** A paused worker reads an answer too late, so its recorded outcome may be wrong. */
function isDisturbed({ at, durationMs }: Delivery, faults: readonly Fault[]): boolean {
  return faults.some((fault) => {
    return fault.hit === 'worker' && overlaps(fault, at.getTime(), at.getTime() + durationMs + settlingMs);
  });
}

/** The number of repeated attempts. */
export function repeatsAmong(receipts: readonly Receipt[]): number {
  return receipts.length - new Set(receipts.map(({ eventId }) => eventId)).size;
}
