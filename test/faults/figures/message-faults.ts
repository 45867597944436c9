import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type MessageRow, messages } from '../../../shared/messages/message-row.ts';
import {
  acceptance,
  type MessageProvider,
  type ReceivedMessage,
  startMessageProvider,
} from '../../support/message-provider.ts';
import { groupBy } from '../check/grouped.ts';
import type { Figure } from '../figure.ts';
import { between, oneOf, type Random, seededRandom } from '../random.ts';
import { startInterruptible } from '../world/interruptible.ts';
import type { World } from '../world/world.ts';
import { inWorld, numbers } from './in-world.ts';

/** The first digits of every number that is texted. No log may contain them. */
const numberStart = '+1202555';
/** Fewer than the contract's 30 creations a minute for each key. */
const ridesPerKey = 25;

/** Rides for later text their passengers and are cancelled, while the workers, Redis and the provider fail in turn. */
export const messageFaults: Figure = {
  name: 'messages',
  goal: 'exactly one for each of 600 changes, with kills, an emptied Redis, and a provider that is away or slow',
  async measure(run) {
    const messagesReceived: ReceivedMessage[] = [];
    const provider = await startInterruptible((port) => startMessageProvider(port, messagesReceived));
    const settings = { SMS_URL: provider.url, SMS_FROM: '+12025550100', SMS_PER_ACCOUNT_DAY: '100000' };
    try {
      const { measured, crashes } = await inWorld(
        { build: run.build, pools: ['messages', 'webhooks'], settings },
        async (world) => {
          const ended = new AbortController();
          const load = bookAndCancel(world, run.short ? 40 : 300).finally(() => ended.abort());
          const faults = await makeFaults(world, provider, seededRandom(run.seed), ended.signal);
          const [changes, left] = [await load, await world.quiet(90_000)];
          return { changes, left, faults, rows: await messages.find({}).toArray(), leaks: leaksIn(world.logDir) };
        },
      );
      const { changes, left, faults, rows, leaks } = measured;
      const received = groupBy(messagesReceived, ({ callback }) => callback.split('/').at(-1) ?? '');
      const states = [...groupBy(rows, ({ state }) => state)].map(([state, { length }]) => `${length} ${state}`);
      const repeats = messagesReceived.filter(({ isRepeat }) => isRepeat).length;
      return {
        reached: `${changes.size} changes, ${rows.length} messages (${states.join(', ')}), ${repeats} attempts repeated; ${faults}`,
        violations: [
          ...crashes,
          ...leaks,
          ...(left > 0 ? [`${left} rides still owe messages`] : []),
          ...[...changes].filter((id) => !rows.some(({ _id }) => _id === id)).map((id) => `${id} was never stored`),
          ...rows.filter(({ _id }) => !changes.has(_id)).map(({ _id }) => `${_id} belongs to no change`),
          ...rows.flatMap((row) => outcomeViolations(row, received.get(row._id) ?? [])),
        ],
      };
    } finally {
      await provider.close();
    }
  },
};

/** Each message is over, and the provider has got what is recorded as sent. Only the same token is sent twice. */
function outcomeViolations(
  { _id, kind, state, reason, createdAt, finishedAt }: MessageRow,
  got: readonly ReceivedMessage[],
) {
  const tokens = new Set(got.map(({ token }) => token));
  const isOutdated = kind === 'booked' && reason === 'outdated' && got.length === 0;
  return [
    ...(state === 'sent' || (state === 'failed' && reason) || isOutdated ? [] : [`${_id} is ${state} ${reason ?? ''}`]),
    ...(state === 'sent' && got.length === 0 ? [`${_id} is recorded as sent, but never arrived`] : []),
    ...(tokens.size > 1 ? [`${_id} was sent with ${tokens.size} tokens`] : []),
    ...(finishedAt && finishedAt < createdAt ? [`${_id} ended before its change`] : []),
  ];
}

/** Books rides for tomorrow that text their passengers, and cancels them. Resolves with the ids of the messages owed. */
async function bookAndCancel(world: World, count: number): Promise<Set<string>> {
  const keys = await Promise.all(
    numbers(Math.ceil(count / ridesPerKey)).map(() => world.newKey({ mode: 'live', manner: 'none' })),
  );
  const owed = new Set<string>();
  for (const index of numbers(count)) {
    const { url } = world.apis[index % world.apis.length] as World['apis'][number];
    const { key } = keys[Math.floor(index / ridesPerKey)] as (typeof keys)[number];
    const post = (to: string, body?: object) =>
      fetch(`${url}/v1${to}`, {
        method: 'POST',
        headers: { 'X-Api-Key': key, 'Content-Type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
    const created = await post('/rides', {
      ...{ pickup: { lat: 40.7128, lng: -74.006 }, destination: { lat: 40.758, lng: -73.9855 }, fare: 25 },
      ...{ pickupAt: Date.now() + 24 * 3_600_000, notify: { passenger: true } },
      passenger: { phone: `${numberStart}${1_000 + index}` },
    });
    if (created.status !== 201) throw new Error(`a creation was answered with ${created.status}`);
    const { rideId } = (await created.json()) as { rideId: string };
    owed.add(`${rideId}:booked:passenger`);
    await setTimeout(50);
    if ((await post(`/rides/${rideId}/cancel`)).status === 200) owed.add(`${rideId}:cancelled:passenger`);
  }
  return owed;
}

type Provider = Awaited<ReturnType<typeof startInterruptible<MessageProvider>>>;

/** Makes one fault after the other until the load has ended. Resolves with their numbers, in words. */
async function makeFaults(world: World, provider: Provider, random: Random, ended: AbortSignal) {
  const counts = { kills: 0, 'emptied Redis': 0, 'provider away': 0, 'provider slow': 0 };
  const faults = {
    async kills() {
      const worker = oneOf(random, world.workers);
      await worker.kill();
      await worker.start();
    },
    async 'emptied Redis'() {
      const redis = new Redis(world.redis.url);
      await redis.flushall();
      redis.disconnect();
    },
    'provider away': () => provider.away(() => setTimeout(between(random, 500, 3_000))),
    async 'provider slow'() {
      let hangs = true;
      provider.running().answerWith(({ token }) => {
        hangs = !hangs;
        return hangs ? 'none' : acceptance(token);
      });
      await setTimeout(between(random, 500, 3_000));
      provider.running().answerWith();
    },
  };
  const names = Object.keys(counts) as (keyof typeof counts)[];
  for (let turn = 0; !ended.aborted; turn += 1) {
    const name = names[turn % names.length] as keyof typeof counts;
    await faults[name]();
    counts[name] += 1;
    await setTimeout(300);
  }
  return names.map((name) => `${name}: ${counts[name]}`).join(', ');
}

/** The logs that contain a number. */
const leaksIn = (logDir: string): string[] =>
  readdirSync(logDir)
    .filter((file) => readFileSync(path.join(logDir, file), 'utf8').includes(numberStart.slice(1)))
    .map((file) => `${file} contains a phone number`);
