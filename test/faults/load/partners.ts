import { setTimeout } from 'node:timers/promises';
import type { NewKey } from '../../../shared/keys/manage-keys.ts';
import type { TestScenario } from '../../../shared/rides/ride-types.ts';
import { between, oneOf, type Random } from '../random.ts';
import { laterLeadMs } from '../world/settings.ts';
import type { World } from '../world/world.ts';
import { canaries } from './canaries.ts';
import { type Pace, plannedPace } from './pace.ts';
import { type Call, type Connections, closeAll, type More, request } from './request.ts';
import { liveWays, testWays } from './side-ways.ts';

export type Partners = ReturnType<typeof startPartners>;

const everyScenario: readonly TestScenario[] = [
  'default',
  'default',
  'three_offers',
  'counter_offer',
  'no_auto_accept',
  'offer_withdrawn',
  'driver_cancels',
  'no_offers',
];

export interface PartnersOptions {
  scenarios?: readonly TestScenario[];
  /** Limit of rides in use at the same time, so that a slow machine is not overloaded. */
  maxRidesInUse?: number;
  /** The keys are live keys: their partners wait for drivers, and request cars of every kind. */
  areLive?: boolean;
  /** Share of rides on which the partner accepts an offer. A fifth of all rides is cancelled. */
  acceptShare?: number;
  /** Share of rides with auto-accept, raised fares, manual steps, a later pickup or a successor. */
  sideShare?: number;
  pace?: Pace;
}

/**
 * Starts partners that use all API processes of a world: they create rides, `perSecond` at the planned pace, and ignore,
 * read, cancel or accept them.
 */
export function startPartners(
  world: World,
  keys: NewKey[],
  random: Random,
  perSecond: number,
  {
    scenarios = everyScenario,
    maxRidesInUse = Number.POSITIVE_INFINITY,
    areLive = false,
    acceptShare = 0.3,
    sideShare = 0,
    pace = plannedPace,
  }: PartnersOptions = {},
) {
  const connections: Connections = new Map();
  const journal: Call[] = [];
  /** Rough duration of a ride. Partners act at a random time in it. */
  const rideMs = 20_000 / world.config.simulationSpeed;
  const inUse = new Set<Promise<void>>();
  let stopped = false;
  let started = 0;

  const call: CallOf = async (key, asked, more = {}) => {
    const api = oneOf(random, world.apis);
    const { operation, offerId, fare } = asked;
    const method = operation === 'retrieve' || operation === 'offers' ? 'GET' : 'POST';
    const { headers, body = fare !== undefined ? { fare } : offerId ? { offerId } : undefined } = more;
    const url = `${api.url}${pathOf(asked)}`;
    const answer = await request(connections, { method, url, key: key.key, headers, body });
    const entry: Call = { ...asked, keyId: key.keyId, api: api.name, ...answer };
    entry.rideId ??= entry.body?.rideId;
    journal.push(entry);
    return entry;
  };

  async function create(key: NewKey, tag: string, scenario: TestScenario, terms = {}): Promise<string | undefined> {
    const isRefused = scenario === 'rate_limited' || scenario === 'unavailable';
    const retries = isRefused || random() < 0.5 ? 3 : 0;
    const headers = { 'x-service-test-scenario': scenario, ...(retries && { 'idempotency-key': tag }) };
    const body = { ...newRide(tag), ...(areLive && carFor(random)), ...terms };
    for (let round = 0; ; round++) {
      const { status, rideId } = await call(key, { operation: 'create', tag, scenario }, { headers, body });
      if (status === 201) {
        if (retries && random() < 0.3) await call(key, { operation: 'create', tag, scenario }, { headers, body });
        return rideId;
      }
      if (round >= retries || (status > 0 && status < 500 && !isRefused)) return undefined;
      await setTimeout(500);
    }
  }

  async function accept(key: NewKey, tag: string, rideId: string, scenario: TestScenario): Promise<void> {
    const enough = scenario === 'three_offers' || (areLive && random() < 0.5) ? 2 : 1;
    for (let look = 0; look < 15 && !stopped; look++) {
      const { body } = await call(key, { operation: 'offers', tag, rideId });
      const offers: { offerId: string }[] = body?.offers ?? [];
      if (offers.length < (areLive && look > 7 ? 1 : enough)) {
        await setTimeout(150);
        continue;
      }
      // Accepts the first offer twice and the last one once, concurrently: at most one of the two offers may win.
      const wanted = [offers[0], offers[0], offers.at(-1)].flatMap((offer) => offer?.offerId ?? []);
      await Promise.all(wanted.map((offerId) => call(key, { operation: 'accept', tag, rideId, offerId })));
      return;
    }
  }

  async function useRide(tag: string): Promise<void> {
    const key = oneOf(random, keys);
    const inclination = random();
    const way = random() < sideShare ? oneOf(random, areLive ? liveWays : testWays) : undefined;
    const scenario = way?.scenario ?? oneOf(random, scenarios);
    const terms = { ...way?.terms, ...(way?.isLater && { pickupAt: soonOpening(random) }) };
    const rideId = await create(key, tag, scenario, terms);
    if (!rideId) return;
    if (way) {
      await way.use?.({ rideId, random, call: (asked, more) => call(key, { tag, rideId, ...asked }, more) });
    } else if (inclination < 0.2) {
      await setTimeout(between(random, 0, rideMs));
      await call(key, { operation: 'cancel', tag, rideId });
      // Two requests at the same moment: the event is resent once, unless the first resend is already made.
      await Promise.all([1, 2].map(() => call(key, { operation: 'resend', tag, rideId })));
    } else if (inclination < 0.2 + acceptShare) {
      await accept(key, tag, rideId, scenario);
    } else if (inclination < 0.4 + acceptShare) {
      await setTimeout(between(random, 0, rideMs));
      await call(key, { operation: 'retrieve', tag, rideId });
    }
  }

  const starting = (async () => {
    // Without keys there are no partners.
    while (!stopped && keys.length > 0) {
      while (inUse.size >= maxRidesInUse) await Promise.race(inUse);
      started += 1;
      const use = useRide(`${areLive ? 'live' : 'request'}-${started}`);
      inUse.add(use);
      void use.finally(() => inUse.delete(use));
      await setTimeout((1_000 / perSecond) * between(random, 0.5, 1.5) * pace.slowdown);
    }
  })();
  return {
    journal,
    /** Starts no more rides. Resolves with the journal when all started requests are done. */
    async stop() {
      stopped = true;
      await starting;
      await Promise.all(inUse);
      closeAll(connections);
      return journal;
    },
  };
}

/**
 * A pickup time whose ride opens 3 to 6 s after its creation, by the setting of `laterLeadMs`. It stays 15 minutes ahead
 * while the creation is repeated.
 */
const soonOpening = (random: Random): number => Math.round(Date.now() + laterLeadMs + between(random, 3_000, 6_000));

/** The pickup of every ride. The drivers are around it. */
export const pickup = { lat: 40.758, lng: -73.9855 };

const newRide = (tag: string) => ({
  pickup: { ...pickup, address: canaries.address },
  destination: { lat: 40.7128, lng: -74.006 },
  fare: 24.5,
  notes: `${tag} ${canaries.note}`,
  passenger: { name: canaries.name, phone: canaries.phone },
});

const carFor = (random: Random) => ({
  carType: oneOf(random, ['regular', 'regular', 'regular', 'comfort', 'family'] as const),
  passengerCount: 1 + Math.floor(random() * 6),
  needs: oneOf(random, [[], [], [], ['pet'], ['child_seat', 'pet']] as const),
});

function pathOf({ operation, rideId, step }: CallSpec): string {
  if (operation === 'create') return '/v1/rides';
  if (operation === 'step') return `/v1/test/rides/${rideId}/${step}`;
  if (operation === 'resend') return `/v1/rides/${rideId}/events/1/resend`;
  if (operation === 'tell') return `/v1/rides/${rideId}/messages`;
  if (operation === 'raise') return `/v1/rides/${rideId}/fare`;
  return `/v1/rides/${rideId}${operation === 'retrieve' ? '' : `/${operation}`}`;
}

type CallSpec = Pick<Call, 'operation' | 'tag' | 'rideId' | 'offerId' | 'fare' | 'step' | 'pin' | 'words' | 'scenario'>;
type CallOf = (key: NewKey, asked: CallSpec, more?: More) => Promise<Call>;
