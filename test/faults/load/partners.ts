import http from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { NewKey } from '../../../shared/keys/manage-keys.ts';
import type { TestScenario } from '../../../shared/rides/ride-types.ts';
import { between, oneOf, type Random } from '../random.ts';
import type { World } from '../world/world.ts';

/** One request of a partner and its answer: the partner's own journal, which is evidence. */
export interface Call {
  operation: 'create' | 'retrieve' | 'offers' | 'accept' | 'cancel';
  /** The creation that it belongs to; it stands in the ride's notes. */
  tag: string;
  keyId: string;
  /** The process that was asked. */
  api: string;
  rideId?: string;
  offerId?: string;
  /** 0 where there was no answer. */
  status: number;
  /** The answer's body; undefined where it was no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the checker says what it expects of an answer.
  body?: any;
  text: string;
  /** Unix time in ms. */
  at: number;
  ms: number;
}

/** What no log, queue or error may hold of a ride. */
export const canaries = { note: 'CANARY-note', name: 'CANARY-name', phone: '+15550009999', address: 'CANARY-street' };

export interface Partners {
  journal: Call[];
  /** How many creations a second are begun. */
  perSecond: number;
  /** Begins nothing more, and resolves with the journal when everything begun has come to its end. */
  stop(): Promise<Call[]>;
}

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
  /** How many rides are used at a time: a slow machine then gets less to do, instead of more than it can. */
  atOnce?: number;
}

/** Partners at work on all API processes of a world: they create rides and ignore, read, cancel or accept them. */
export function startPartners(
  world: World,
  keys: NewKey[],
  random: Random,
  perSecond: number,
  { scenarios = everyScenario, atOnce = Number.POSITIVE_INFINITY }: PartnersOptions = {},
): Partners {
  const agent = new http.Agent({ keepAlive: true });
  const journal: Call[] = [];
  /** A partner acts at any time of a ride. */
  const rideMs = 20_000 / world.config.simulationSpeed;
  const underWay = new Set<Promise<void>>();
  let stopped = false;
  let begun = 0;

  const call = async (key: NewKey, asked: Pick<Call, 'operation' | 'tag' | 'rideId' | 'offerId'>, more: More = {}) => {
    const api = oneOf(random, world.apis);
    const at = Date.now();
    const answer = await request(agent, `${api.url}${pathOf(asked)}`, key.key, asked, more);
    const entry: Call = { ...asked, keyId: key.keyId, api: api.name, ...answer, at, ms: Date.now() - at };
    entry.rideId ??= entry.body?.rideId;
    journal.push(entry);
    return entry;
  };

  async function create(key: NewKey, tag: string, scenario: TestScenario): Promise<string | undefined> {
    const retries = random() < 0.5 ? 3 : 0;
    const headers = { 'x-service-test-scenario': scenario, ...(retries && { 'idempotency-key': tag }) };
    for (let round = 0; ; round++) {
      const { status, rideId } = await call(key, { operation: 'create', tag }, { headers, body: newRide(tag) });
      if (status === 201) return rideId;
      if (round >= retries || (status > 0 && status < 500)) return undefined;
      await setTimeout(500);
    }
  }

  async function accept(key: NewKey, tag: string, rideId: string, scenario: TestScenario): Promise<void> {
    const enough = scenario === 'three_offers' ? 2 : 1;
    for (let look = 0; look < 15; look++) {
      const { body } = await call(key, { operation: 'offers', tag, rideId });
      const offers: { offerId: string }[] = body?.offers ?? [];
      if (offers.length < enough) {
        await setTimeout(150);
        continue;
      }
      // The cheapest twice and the dearest at the same moment: one of the two offers may win.
      const wanted = [offers[0], offers[0], offers.at(-1)].flatMap((offer) => offer?.offerId ?? []);
      await Promise.all(wanted.map((offerId) => call(key, { operation: 'accept', tag, rideId, offerId })));
      return;
    }
  }

  async function useRide(tag: string): Promise<void> {
    const key = oneOf(random, keys);
    const inclination = random();
    const scenario = oneOf(random, scenarios);
    const rideId = await create(key, tag, scenario);
    if (!rideId) return;
    if (inclination < 0.2) {
      await setTimeout(between(random, 0, rideMs));
      await call(key, { operation: 'cancel', tag, rideId });
    } else if (inclination < 0.5) {
      await accept(key, tag, rideId, scenario);
    } else if (inclination < 0.7) {
      await setTimeout(between(random, 0, rideMs));
      await call(key, { operation: 'retrieve', tag, rideId });
    }
  }

  const partners: Partners = {
    journal,
    perSecond,
    async stop() {
      stopped = true;
      await beginning;
      await Promise.all(underWay);
      agent.destroy();
      return journal;
    },
  };
  const beginning = (async () => {
    while (!stopped) {
      while (underWay.size >= atOnce) await Promise.race(underWay);
      begun += 1;
      const use = useRide(`request-${begun}`);
      underWay.add(use);
      void use.finally(() => underWay.delete(use));
      await setTimeout((1_000 / partners.perSecond) * between(random, 0.5, 1.5));
    }
  })();
  return partners;
}

const newRide = (tag: string) => ({
  pickup: { lat: 40.758, lng: -73.9855, address: canaries.address },
  destination: { lat: 40.7128, lng: -74.006 },
  fare: 24.5,
  notes: `${tag} ${canaries.note}`,
  passenger: { name: canaries.name, phone: canaries.phone },
});

function pathOf({ operation, rideId }: Pick<Call, 'operation' | 'rideId'>): string {
  if (operation === 'create') return '/v1/rides';
  return `/v1/rides/${rideId}${operation === 'retrieve' ? '' : `/${operation}`}`;
}

interface More {
  headers?: Record<string, string>;
  body?: unknown;
}

/** The longest time a partner waits. The checker reports an answer that took far less. */
const patienceMs = 20_000;

function request(
  agent: http.Agent,
  url: string,
  key: string,
  { operation, offerId }: Pick<Call, 'operation' | 'offerId'>,
  { headers, body = offerId && { offerId } }: More,
): Promise<Pick<Call, 'status' | 'body' | 'text'>> {
  const method = operation === 'retrieve' || operation === 'offers' ? 'GET' : 'POST';
  const content = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve) => {
    const without = (error: Error) => resolve({ status: 0, text: error.message });
    const sent = http.request(
      url,
      {
        method,
        agent,
        headers: {
          authorization: `Bearer ${key}`,
          ...(content && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
          ...headers,
        },
      },
      async (response) => {
        try {
          let text = '';
          for await (const chunk of response.setEncoding('utf8')) text += chunk;
          resolve({ status: response.statusCode ?? 0, text, body: parsed(text) });
        } catch (error) {
          without(error as Error);
        }
      },
    );
    sent.setTimeout(patienceMs, () => sent.destroy(new Error(`no answer within ${patienceMs} ms`)));
    sent.on('error', without);
    sent.end(content);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
