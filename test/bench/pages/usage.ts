import { setTimeout } from 'node:timers/promises';
import { accountOf } from '../../../shared/accounts/account.ts';
import { startSession } from '../../../shared/accounts/session.ts';
import { newRideId, newTrackToken } from '../../../shared/base/ids.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { dayMs, monthOf, previousMonth, summableUntil } from '../../../shared/usage/days.ts';
import { monthTotals } from '../../../shared/usage/statements.ts';
import { linesPerPart } from '../../../shared/usage/trip-sums.ts';
import { isSumDue } from '../../../shared/usage/usage-progress.ts';
import { noDays, summaryOf, usageOf } from '../../../shared/usage/usage-summary.ts';
import { assertCount, type Bench, type Measurement } from '../bench.ts';
import { newKeys } from '../data/keys.ts';
import { biddingRide, insertRides, ridesInBatches, tripRide } from '../data/rides.ts';
import type { Figure } from '../report.ts';
import { waitUntilIdle } from '../scale/databases.ts';
import { percentile } from '../statistics.ts';
import { timeOf } from './http-requests.ts';

const keyCount = 200;
/** The rides are spread over this many days until now. */
const daysFilled = 30;
const goal = '<= 300';

/**
 * The response times (p95) of the usage pages of one account with very many rides and keys, and the time to sum all
 * days at once, as after an import.
 */
export const usage: Measurement = async (bench) => {
  const { stack, quick, say } = bench;
  const count = quick ? 50_000 : 1_000_000;
  const { accountId, trips } = await fill(bench, count);
  say('waiting until MongoDB is idle');
  await waitUntilIdle(stack.mongo.pid, 30_000);
  const api = await stack.startApi();
  const cookie = `session=${await startSession(accountId, Date.now())}`;
  const timesOf = async (path: string, requests: number) => {
    const times: number[] = [];
    const url = `http://127.0.0.1:${api.port}${path}`;
    for (let request = 0; request < requests; request++) times.push(await timeOf(url, { cookie }));
    return times;
  };
  const name = (page: string) => `${page}, ${count.toLocaleString('en-US')} rides`;
  const figures: Figure[] = [];

  say('summing');
  const startedAt = performance.now();
  const worker = await stack.start('worker', 'workers/main', { args: ['bidding'] });
  const cpuBefore = await worker.cpuUs();
  while (await isSumDue(summableUntil(Date.now()))) await setTimeout(100);
  const seconds = [(performance.now() - startedAt) / 1_000];
  figures.push({ name: name('summing and closing all days at once'), unit: 's', service: seconds });
  const cpuSeconds = [((await worker.cpuUs()) - cpuBefore) / 1e6];
  figures.push({ name: name('the same, CPU of the worker'), unit: 's', service: cpuSeconds });
  await worker.stop();

  const totals = await monthTotals(accountId, Date.now());
  const rides = summaryOf((await usageOf(accountId, noDays, Date.now())).keys).ridesCreated;
  assertCount(count, rides, 'usage: rides counted');
  assertCount(
    trips,
    totals.reduce((sum, month) => sum + month.trips, 0),
    'usage: trips counted',
  );

  const [now, before] = [monthOf(new Date()), previousMonth(monthOf(new Date()))];
  const lastPage = (month: string) =>
    Math.max(1, Math.ceil((totals.find((total) => total.month === month)?.trips ?? 0) / linesPerPart));
  const pages: Record<string, string> = {
    usage: '/dashboard/usage',
    'usage of a month': `/dashboard/usage?month=${before}`,
    'statement so far': `/dashboard/usage/${now}`,
    'statement so far, last page': `/dashboard/usage/${now}?page=${lastPage(now)}`,
    'statement of a closed month': `/dashboard/usage/${before}`,
    'statement of a closed month, last page': `/dashboard/usage/${before}?page=${lastPage(before)}`,
  };
  for (const [page, path] of Object.entries(pages)) {
    say(`the page of ${page}`);
    const othersShare = stack.watchOthers();
    const service = [percentile(await timesOf(path, quick ? 30 : 100), 0.95)];
    figures.push({ name: `${name(page)}, p95`, unit: 'ms', service, goal, others: othersShare() });
  }
  for (const [month, what] of [
    [now, 'so far'],
    [before, 'of a closed month'],
  ] as const) {
    say(`the CSV of the statement ${what}`);
    const service = await timesOf(`/dashboard/usage/${month}/statement.csv`, 1);
    figures.push({ name: name(`all ${lastPage(month)} pages as CSV, ${what}`), unit: 'ms', service });
  }
  return figures;
};

/**
 * Creates an account with keys and rides. Three of four rides are live, and most are completed trips of half an hour.
 */
async function fill({ say }: Bench, count: number): Promise<{ accountId: string; trips: number }> {
  const { _id: accountId } = await accountOf('bench@rides.example');
  const live = await newKeys((keyCount * 3) / 4, 'live', undefined, undefined, accountId);
  const test = await newKeys(keyCount / 4, 'test', undefined, undefined, accountId);
  const keys = [...live, ...test];
  const templates = keys.map((key) => [tripRide(key, 'completed'), biddingRide(key, 3)] as const);
  const firstMs = Date.now() - daysFilled * dayMs;
  let trips = 0;
  const newRide = (number: number): Ride => {
    const [completed, cancelled] = templates[(number * 7) % keyCount] as (typeof templates)[0];
    const createdMs = firstMs + Math.floor((number / count) * (daysFilled * dayMs - 1_800_000));
    const isTrip = number % 10 !== 0;
    if (isTrip && completed.mode === 'live') trips += 1;
    const ride: Ride = {
      ...(isTrip ? completed : { ...cancelled, status: 'cancelled', timers: [] }),
      ...{ _id: newRideId(createdMs), trackToken: newTrackToken(), createdAt: new Date(createdMs) },
      ...{ statusAt: new Date(createdMs + 1_800_000), agreedPrice: 5 + (number % 4_000) / 100 },
    };
    delete ride.nextDueAt;
    return ride;
  };
  for (const batch of ridesInBatches(count, newRide, say)) await insertRides(batch);
  return { accountId, trips };
}
