import { setTimeout } from 'node:timers/promises';
import type { Measurement } from '../bench.ts';
import { type BenchKey, newKeys } from '../data/keys.ts';
import { insertRides, tripRide } from '../data/rides.ts';
import { cpuByProgram } from '../measured/cpu-by-program.ts';
import { timeOf } from '../pages/http-requests.ts';
import { newFigure } from '../report.ts';

const [keyCount, pollsOfEach, ridesOfEach] = [100, 10, 50];

/** The CPU cost of long polls without new events, in the API's process and in MongoDB. */
export const polls: Measurement = async ({ stack, quick, say }) => {
  const seconds = quick ? 10 : 60;
  const api = await stack.startApi();
  const keys = await newKeys(keyCount, 'live');
  const longAgo = Date.now() - 3_600_000;
  const rides = keys.flatMap((key) => Array.from({ length: ridesOfEach }, () => tripRide(key, 'completed', longAgo)));
  await insertRides(rides);
  const url = `http://127.0.0.1:${api.port}/v1/events?after=now&waitSeconds=30`;
  let isOver = false;
  const failures: Error[] = [];
  const poll = async ({ key }: BenchKey) => {
    while (!isOver) await timeOf(url, { 'x-api-key': key }).catch((error) => failures.push(error));
  };
  say(`${(keyCount * pollsOfEach).toLocaleString('en-US')} long polls`);
  for (const key of keys) for (let count = 0; count < pollsOfEach; count++) void poll(key);
  await setTimeout(5_000);
  const cpu = await cpuByProgram(stack, [api]);
  await setTimeout(seconds * 1_000);
  const { percentOf, othersShare } = await cpu.stop();
  isOver = true;
  if (failures[0]) throw new Error(`polls: ${failures.length} failed, the first: ${failures[0].message}`);
  const figure = newFigure(`${(keyCount * pollsOfEach).toLocaleString('en-US')} waiting requests`, othersShare);
  return [
    figure('CPU of the API', '% of a core', percentOf(api.name), '<= 10'),
    figure('CPU of MongoDB', '% of a core', percentOf('MongoDB')),
  ];
};
