import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { changeRide } from './change-ride.ts';
import { type Change, type Command, decide } from './decide.ts';
import { presentedOrder } from './offers.ts';
import { enqueueNextDelivery } from './outbox.ts';
import type { RideState, TimerName } from './ride-types.ts';
import { simulatedOffer } from './simulation.ts';
import { enqueueNextTimer } from './timers.ts';

export type TimerResult =
  | { result: 'done'; status: RideState['status'] }
  | { result: 'early'; remainingMs: number }
  /** The ride has gone on without it: normal, since timers are not cancelled. */
  | { result: 'stale' };

/**
 * Does what a timer stands for, if the ride still has it and it is due by MongoDB's clock. Can run twice, late or never:
 * the write that acts also removes the timer.
 */
export async function fireTimer(ctx: Context, rideId: string, name: TimerName): Promise<TimerResult> {
  let outcome: TimerResult = { result: 'stale' };
  const ride = await changeRide(ctx, { rideId, owner: 'anyone' }, (current, at, now) => {
    const timer = current.timers.find((candidate) => candidate.name === name);
    const remainingMs = timer ? timer.dueAt.getTime() - now.getTime() : 0;
    outcome = timer && remainingMs > 0 ? { result: 'early', remainingMs } : { result: 'stale' };
    if (!timer || remainingMs > 0) return null;
    const change = decideOrDrop(ctx, current, name, at);
    outcome = { result: 'done', status: change.set.status ?? current.status };
    return change;
  });
  if (ride && outcome.result === 'stale') await enqueueWhatFollows(ctx, ride);
  return ride ? outcome : { result: 'stale' };
}

/** The run before this one may have made the change, and have ended before it added what follows. */
async function enqueueWhatFollows(ctx: Context, ride: RideState): Promise<void> {
  await Promise.all([enqueueNextTimer(ctx, ride), enqueueNextDelivery(ctx, ride)]);
}

/** A step that has become illegal is dropped, or the sweeper would bring it back for ever. */
function decideOrDrop(ctx: Context, ride: RideState, name: TimerName, at: Date): Change {
  const dropped: Change = { set: { timers: ride.timers.filter((timer) => timer.name !== name) } };
  const command = commandOf(ride, name);
  if (!command) return dropped;
  try {
    return decide(ride, command, at, ctx.config, name) ?? dropped;
  } catch (error) {
    if (error instanceof AppError) return dropped;
    throw error;
  }
}

function commandOf(ride: RideState, name: TimerName): Command | null {
  switch (name) {
    case 'expire':
    case 'stall':
      return { action: 'cancel', by: 'timeout' };
    case 'driver_cancel':
      return { action: 'cancel', by: 'driver' };
    case 'offer':
    case 'offer_2':
    case 'offer_3':
      return { action: 'offer', ...simulatedOffer(ride, name) };
    case 'withdraw':
    case 'accept': {
      const [cheapest] = presentedOrder(ride.offers);
      const action = name === 'accept' ? 'accept' : 'withdrawOffer';
      return cheapest ? { action, offerId: cheapest.offerId } : null;
    }
    default:
      return { action: name };
  }
}
