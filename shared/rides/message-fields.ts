import { type MessageKind, personsFor } from '../messages/message-kinds.ts';
import type { RideState, Timer } from './ride-types.ts';

/**
 * The messages that a ride owes after a change of this kind, and its timers with the timer `message`, which stores them.
 * `timers` are the timers after the change, without `message`; a timer that has not fired yet stays. Pure.
 */
export function messageFields(
  ride: Pick<RideState, 'notify' | 'driver' | 'replaces' | 'messagesOwed'> & { timers?: readonly Timer[] },
  kind: MessageKind | undefined,
  now: Date,
  timers: readonly Timer[],
): Pick<RideState, 'messagesOwed' | 'timers'> {
  const others = timers.filter(({ name }) => name !== 'message');
  const [pending] = (ride.timers ?? []).filter(({ name }) => name === 'message');
  if (!kind || personsFor(kind, ride).length === 0) return { timers: [...others, ...(pending ? [pending] : [])] };
  const messagesOwed = [...(ride.messagesOwed ?? []), { kind, at: now }];
  return { messagesOwed, timers: [...others, pending ?? { name: 'message', dueAt: now }] };
}
