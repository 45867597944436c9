import type { EventName } from '../rides/ride-types.ts';

/** The headers of a delivery (contract, section 6); `mark` says what an attempt by hand is. */
export function deliveryHeaders(
  { event, eventId, seq, mark }: { event: EventName; eventId: string; seq: number; mark?: Record<string, string> },
  signature: string,
): Record<string, string> {
  return {
    'X-Service-Event': event,
    'X-Service-Signature': signature,
    'X-Service-Event-Id': eventId,
    'X-Service-Sequence': String(seq),
    ...mark,
  };
}
