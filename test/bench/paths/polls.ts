import http from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { Measurement } from '../bench.ts';
import { type BenchKey, newKeys } from '../data/keys.ts';
import { insertRides, tripRide } from '../data/rides.ts';
import { newFigure } from '../report.ts';
import { cpuByProgram } from '../rides/cpu-by-program.ts';

const [keyCount, pollsOfEach, ridesOfEach] = [100, 10, 50];

/** The CPU cost of long polls without new events, in the API's process and in MongoDB. */
export const polls: Measurement = async ({ stack, quick, say }) => {
  const seconds = quick ? 10 : 60;
  const api = await stack.startApi();
  const keys = await newKeys(keyCount, 'live');
  const longAgo = Date.now() - 3_600_000;
  const rides = keys.flatMap((key) => Array.from({ length: ridesOfEach }, () => tripRide(key, 'completed', longAgo)));
  await insertRides(rides);
  const agent = new http.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  let isOver = false;
  let answered = 0;
  const failures: string[] = [];
  const poll = async (key: BenchKey) => {
    while (!isOver) {
      const url = `http://127.0.0.1:${api.port}/v1/events?after=now&waitSeconds=30`;
      const status = await statusOf(url, { agent, headers: { 'x-api-key': key.key } }).catch(String);
      answered += 1;
      if (status !== 200 && !isOver) failures.push(String(status));
    }
  };
  say(`${(keyCount * pollsOfEach).toLocaleString('en-US')} long polls`);
  for (const key of keys) for (let count = 0; count < pollsOfEach; count++) void poll(key);
  await setTimeout(5_000);
  const cpu = await cpuByProgram(stack, [api]);
  await setTimeout(seconds * 1_000);
  const { percentOf, othersShare } = await cpu.stop();
  isOver = true;
  agent.destroy();
  if (failures.length > 0)
    throw new Error(`polls: ${failures.length} of ${answered} failed, the first: ${failures[0]}`);
  const figure = newFigure(`${(keyCount * pollsOfEach).toLocaleString('en-US')} waiting requests`, othersShare);
  return [
    figure('CPU of the API', '% of a core', percentOf(api.name), '<= 10'),
    figure('CPU of MongoDB', '% of a core', percentOf('MongoDB')),
  ];
};

function statusOf(url: string, options: http.RequestOptions): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    http
      .get(url, options, (response) => response.resume().once('end', () => resolve(response.statusCode)))
      .once('error', reject);
  });
}
