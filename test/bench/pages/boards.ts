import { setTimeout } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { accountOf } from '../../../shared/accounts/account.ts';
import { chooseFirstDeskKey } from '../../../shared/accounts/desk.ts';
import { startSession } from '../../../shared/accounts/session.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { BoardState } from '../../../web/desk/board-state.ts';
import { assertAll, assertCount, type Measurement } from '../bench.ts';
import { type BenchKey, newKeys } from '../data/keys.ts';
import { creation } from '../data/requests.ts';
import { biddingRide, insertRides } from '../data/rides.ts';
import type { LoadResult } from '../load/load.ts';
import { cpuByProgram } from '../measured/cpu-by-program.ts';
import { newFigure } from '../report.ts';
import { percentile } from '../statistics.ts';
import { latencies, newStreams, timeOf } from './http-requests.ts';

/** A desk books with one key at a time, so each key has its own account. */
const [deskCount, boardCount] = [60, 100];
/** Bidding rides on each board from the start. */
const waitingRides = 20;
const perSecond = 5;
/** A test ride ends within this time. */
const rideMs = 20_000;

/**
 * 100 boards of 60 desks, while 5 test rides a second are created and driven. Measures how soon each change of a ride
 * reaches each board of its desk, the latency of partners' requests at the same time, and how long the API's event loop
 * is held up. The floor of a retrieval is the same while no board is open.
 */
export const boards: Measurement = async (bench) => {
  const { stack, quick, say } = bench;
  const seconds = quick ? 20 : 60;
  const api = await stack.startApi();
  const load = await stack.startLoad();
  const pools = await stack.startPools();
  const desks = await newDesks();
  const keys = desks.map(({ key }) => key);
  await insertRides(keys.flatMap((key) => Array.from({ length: waitingRides }, () => biddingRide(key, 1))));
  const base = `http://127.0.0.1:${api.port}`;
  const retrieval = () => timeOf(`${base}/v1/rides?limit=1`, { Authorization: `Bearer ${keys[0]?.key}` });
  const requests = keys.map((key) => creation(key));
  const createRides = () => load.open(api, { connections: 8, requests, phases: [{ perSecond, seconds }] });

  say(`no board, ${perSecond} rides a second, ${seconds} s`);
  const createdWithout = createRides();
  const retrievedWithout = await latencies(retrieval, seconds);
  await createdWithout;
  await setTimeout(rideMs);
  say(`opening ${boardCount} boards of ${desks.length} desks`);
  const open = await openBoards(base, desks);

  say(`${perSecond} rides a second, ${seconds} s`);
  const startedAt = Date.now();
  const loaded = createRides();
  const cpu = await cpuByProgram(stack, [api, ...pools, load]);
  const stopProfile = await bench.profiles.start('boards', [api]);
  await api.ask('watch-turns');
  const retrieved = await latencies(retrieval, seconds);
  const heldUpMs = await api.ask<number>('turns-p99');
  const { perSecondMs, othersShare } = await cpu.stop();
  await stopProfile();
  const [created] = (await loaded) as [LoadResult];
  assertAll(201, created, 'boards: creations');
  await setTimeout(rideMs);
  assertCount(boardCount, open.count(), 'boards: open streams');
  const newsMs = await timesOfNews(open, startedAt);
  open.close();

  const figure = newFigure(`${boardCount} boards, ${perSecond} rides a second`, othersShare);
  return [
    figure('change to a board, p50', 'ms', percentile(newsMs, 0.5)),
    figure('change to a board, p99', 'ms', percentile(newsMs, 0.99), '<= 1000'),
    figure('change to a board, longest', 'ms', percentile(newsMs, 1)),
    figure('changes that reached a board', 'changes', newsMs.length),
    {
      ...figure('a retrieval beside them, p99 (floor: no boards)', 'ms', percentile(retrieved, 0.99), '<= 3'),
      floor: [percentile(retrievedWithout, 0.99)],
    },
    figure("how late the API's event loop is, p99", 'ms', heldUpMs, '<= 20'),
    figure('a creation, p99', 'ms', created.p99Ms, '<= 100'),
    ...perSecondMs.map(([who, ms]) => figure(`CPU of ${who}`, '% of a core', ms / 10)),
  ];
};

interface Desk {
  key: BenchKey;
  cookie: string;
}

const newDesks = (): Promise<Desk[]> =>
  Promise.all(
    Array.from({ length: deskCount }, async (_, index) => {
      const { _id: accountId } = await accountOf(`desk-${index}@rides.example`);
      const [key] = await newKeys(1, 'test', undefined, undefined, accountId);
      if (!key) throw new Error('no key was made');
      await chooseFirstDeskKey(accountId, key.keyId);
      return { key, cookie: `session=${await startSession(accountId, Date.now())}` };
    }),
  );

type OpenBoards = Awaited<ReturnType<typeof openBoards>>;

async function openBoards(base: string, desks: readonly Desk[]) {
  const arrivals = new Map<string, number[]>();
  const boardsOf = new Map<string, number>();
  const streams = newStreams();
  /** Resolves when the board has shown its first state. */
  const follow = (cookie: string) =>
    new Promise<void>((resolve, reject) => {
      const seen = new Set<string>();
      const parser = createParser({
        onEvent({ data }) {
          const now = Date.now();
          const { order }: BoardState = JSON.parse(data);
          for (const [id, stamp] of order)
            note(seen, arrivals, `${id.slice('board-'.length)} ${parseInt(stamp, 10)}`, now);
          resolve();
        },
      });
      streams.open(`${base}/dashboard/desk/events`, { cookie }, (text) => parser.feed(text)).catch(reject);
    });
  for (let board = 0; board < boardCount; board++) {
    const { key, cookie } = desks[board % desks.length] as Desk;
    await follow(cookie);
    boardsOf.set(key.keyId, (boardsOf.get(key.keyId) ?? 0) + 1);
  }
  return { ...streams, arrivals, boardsOf };
}

/** Records the first time that one board has shown this revision. */
function note(seen: Set<string>, arrivals: Map<string, number[]>, revision: string, now: number): void {
  if (seen.has(revision)) return;
  seen.add(revision);
  arrivals.set(revision, [...(arrivals.get(revision) ?? []), now]);
}

/**
 * The times (ms) from each change to its arrival on each board of its key. Throws if a board has missed the change. A
 * test ride's n-th revision has its n-th event, and its completion leaves the board.
 */
async function timesOfNews({ arrivals, boardsOf }: OpenBoards, startedAt: number): Promise<number[]> {
  const times: number[] = [];
  const stored = await rides.find({ createdAt: { $gte: new Date(startedAt) } }).toArray();
  for (const { _id, keyId, createdAt, rev, status, events } of stored) {
    assertCount(events.length, rev, `boards: revisions of ${_id}`);
    if (status !== 'completed') throw new Error(`boards: ${_id} is ${status}`);
    for (const [revision, at] of [createdAt, ...events.slice(0, -1).map((event) => event.at)].entries()) {
      const arrived = arrivals.get(`${_id} ${revision}`) ?? [];
      assertCount(boardsOf.get(keyId) ?? 0, arrived.length, `boards: arrivals of revision ${revision} of ${_id}`);
      times.push(...arrived.map((time) => time - at.getTime()));
    }
  }
  return times;
}
