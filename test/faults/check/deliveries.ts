import type { Delivery, Ride } from '../../../shared/rides/ride-types.ts';
import { type Fault, overlaps } from '../faults-log.ts';
import type { Manner, Receipt } from '../world/receivers.ts';

/** An attempt ends after 8 s at most; recording its outcome may take a little on a busy machine. */
const attemptMs = 8_000;
const settlingMs = 2_000;

/** How the deliveries of a ride broke a promise. `receipts` are the ride's own, in the order in which they came. */
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
  for (const receipt of receipts) {
    const { seq } = receipt;
    const event = ride.events[seq - 1];
    if (!receipt.isSigned) say(`event ${seq} came with a wrong signature`);
    if (receipt.body !== event?.body) say(`event ${seq} came with another body than is recorded`);
    const before = last.get(seq);
    if (before && !excuseOf(before, faults)) say(`event ${seq} was sent again without a fault`);
    if (!before && Math.max(0, ...first.keys()) > seq) say(`event ${seq} came first after a later one`);
    if (!before) first.set(seq, receipt);
    last.set(seq, receipt);
  }
  for (const { seq, delivery } of ride.events) {
    if (!delivery) say(`event ${seq} has no outcome`);
    else if (delivery.outcome === 'delivered' && !first.has(seq))
      say(`event ${seq} is recorded as sent, but never came`);
    else if (!isExpected(delivery, manner) && !isDisturbed(delivery, faults)) {
      say(`event ${seq} to a ${manner} receiver is recorded as ${delivery.outcome} ${delivery.reason ?? ''}`);
    }
  }
  return violations;
}

/** Only what kept an attempt's outcome from being recorded excuses a second one: the end or pause of a worker, or MongoDB. */
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

/** A worker that is paused does not see an answer in time. */
function isDisturbed({ at, durationMs }: Delivery, faults: readonly Fault[]): boolean {
  return faults.some((fault) => {
    return fault.hit === 'worker' && overlaps(fault, at.getTime(), at.getTime() + durationMs + settlingMs);
  });
}

/** How many attempts were second ones. */
export function repeatsAmong(receipts: readonly Receipt[]): number {
  return receipts.length - new Set(receipts.map(({ eventId }) => eventId)).size;
}
