import { setTimeout } from 'node:timers/promises';
import type { Context } from '../../../shared/base/context.ts';
import { AppError } from '../../../shared/base/errors.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { newDriver, offerOn } from '../../support/rides.ts';
import { between, oneOf, type Random, shuffled } from '../random.ts';
import type { World } from '../world/world.ts';
import { httpClient, smallRide } from './http-client.ts';
import { keysInTurn, numbers } from './in-world.ts';
import type { RaceAnswer } from './race-verdict.ts';

/**
 * The kinds of races with their share in %. In all of them partners accept and cancel concurrently on both API
 * processes.
 */
export const kinds = {
  /** Only partners act. */
  partners: 65,
  /** A driver also withdraws one of the offers. */
  withdrawal: 10,
  /** Partners act when the bidding time ends. */
  expiry: 10,
  /** Partners act at the moment when the simulator accepts for them. Some also cancel later, during the trip. */
  simulator: 15,
};
export type Kind = keyof typeof kinds;

/**
 * Races partners on all API processes. `race` runs one race on a new ride; `answers` records the answers by ride id.
 */
export function raceTrack(world: World, ctx: Context, random: Random) {
  const clients = world.apis.map(({ url }) => httpClient(url, 60));
  const answers = new Map<string, RaceAnswer[]>();
  const keysOf = { live: keysInTurn(world, 'live'), test: keysInTurn(world, 'test') };

  async function ask(key: string, rideId: string, asked: RaceAnswer['asked'], offerId?: string): Promise<void> {
    const startedAt = Date.now();
    const path = `/v1/rides/${rideId}/${asked}`;
    const client = oneOf(random, clients);
    const answer = await client.request({ method: 'POST', path, key, body: { offerId } });
    const rideStatus = answer.status === 200 ? JSON.parse(answer.text).status : undefined;
    answers.get(rideId)?.push({ asked, offerId, status: answer.status, rideStatus, startedAt, endedAt: Date.now() });
  }

  async function race(kind: Kind): Promise<void> {
    const key = await keysOf[kind === 'simulator' ? 'test' : 'live']();
    const headers: Record<string, string> = kind === 'simulator' ? { 'X-Service-Test-Scenario': 'three_offers' } : {};
    const created = await oneOf(random, clients).request({
      method: 'POST',
      path: '/v1/rides',
      key,
      headers,
      body: smallRide,
    });
    if (created.status !== 201) throw new Error(`a creation was answered ${created.status}`);
    const { rideId } = JSON.parse(created.text);
    answers.set(rideId, []);
    const offers = kind === 'simulator' ? await simulatedOffers(rideId) : await liveOffers(ctx, rideId, random);
    const [first = '', ...others] = offers.ids;
    const accept = (offerId: string) => () => ask(key, rideId, 'accept', offerId);
    const cancel = () => ask(key, rideId, 'cancel');
    const racers = [accept(first), accept(first), ...others.map(accept), accept(oneOf(random, others))];
    if (random() < 0.5) racers.push(cancel);
    if (random() < 0.2) racers.push(cancel);
    if (kind === 'withdrawal') racers.push(() => withdraw(ctx, rideId, oneOf(random, offers.ids)));
    const later: (() => Promise<void>)[] = kind === 'simulator' && random() < 0.5 ? [cancel] : [];

    const startsAt = kind === 'expiry' ? offers.biddingEndsAt : kind === 'simulator' ? offers.acceptsAt : 0;
    // The simulator's job runs some ms after its due time.
    const lateMs = kind === 'simulator' ? between(random, 0, 60) : between(random, -25, 15);
    await setTimeout(Math.max(0, startsAt - Date.now() + lateMs));
    await Promise.all([
      ...shuffled(random, racers).map((go) => go()),
      ...later.map(async (go) => {
        await setTimeout(between(random, 0, 1_200));
        await go();
      }),
    ]);
  }

  return { answers, race, close: () => clients.map((client) => client.close()) };
}

interface Offers {
  ids: string[];
  /** When the simulator will accept, in Unix ms. */
  acceptsAt: number;
  biddingEndsAt: number;
}

async function liveOffers(ctx: Context, rideId: string, random: Random): Promise<Offers> {
  const count = random() < 0.7 ? 2 : 3;
  const made = [];
  for (const number of numbers(count))
    made.push(await offerOn(ctx, rideId, { driver: newDriver(), price: 20 + number }));
  const ride = await rides.findOne({ _id: rideId }, { projection: { biddingEndsAt: 1 } });
  return { ids: made.map(({ offerId }) => offerId), acceptsAt: 0, biddingEndsAt: ride?.biddingEndsAt.getTime() ?? 0 };
}

/** Waits for the simulator's three offers. The cheapest one, which the simulator will accept, is the first. */
async function simulatedOffers(rideId: string): Promise<Offers> {
  await setTimeout(330);
  for (;;) {
    const ride = await rides.findOne(
      { _id: rideId },
      { projection: { offers: 1, timers: 1, biddingEndsAt: 1, status: 1 } },
    );
    const accept = ride?.timers.find(({ name }) => name === 'accept');
    if (ride && (accept || ride.status !== 'bidding')) {
      const ids = [...ride.offers].sort((a, b) => a.price - b.price).map(({ offerId }) => offerId);
      return { ids, acceptsAt: accept?.dueAt.getTime() ?? 0, biddingEndsAt: ride.biddingEndsAt.getTime() };
    }
    await setTimeout(20);
  }
}

async function withdraw(ctx: Context, rideId: string, offerId: string): Promise<void> {
  await applyAction(ctx, rideId, { action: 'withdrawOffer', offerId }, 'anyone').catch((error: unknown) => {
    if (!(error instanceof AppError && error.status === 409)) throw error;
  });
}
