import { setTimeout } from 'node:timers/promises';
import mongoose from 'mongoose';
import { assertCount, type Measurement } from '../bench.ts';
import type { FleetResult } from '../load/fleet.ts';
import { cpuByProgram } from '../measured/cpu-by-program.ts';
import { newFigure } from '../report.ts';
import { putOnline } from './fleet.ts';

const readCommands = ['find', 'aggregate', 'getMore', 'count', 'distinct'];

/**
 * Measures the reads per second that 1,000 online drivers cause in MongoDB. They report every 5 s, hold streams and get
 * no request.
 */
export const idleDrivers: Measurement = async ({ stack, quick, say }) => {
  const count = 1_000;
  const seconds = quick ? 10 : 60;
  const drivers = await stack.start('drivers', 'test/bench/load/fleet');
  const api = await stack.startApi();
  await stack.startPools();
  say('reads without drivers');
  const without = await commandsASecond(seconds);
  assertCount(count, await putOnline(drivers, `http://127.0.0.1:${api.port}`, count, say), 'drivers online');
  await setTimeout(6_000);
  say('reads with drivers');
  const cpu = await cpuByProgram(stack, [api]);
  const withDrivers = await commandsASecond(seconds);
  const { perSecondMs, othersShare } = await cpu.stop();
  const { figures } = await drivers.ask<FleetResult>('result');
  await drivers.ask('stop');
  assertCount(0, figures.errors, `errors (last one: ${figures.lastError})`);
  const figure = newFigure(`${count.toLocaleString('en-US')} idle drivers`, othersShare);
  return [
    figure('reads', 'a second', withDrivers.reads - without.reads, '<= 20'),
    figure('updates', 'commands a second', withDrivers.updates - without.updates),
    newFigure('no drivers')('reads', 'a second', without.reads),
    ...perSecondMs.map(([who, ms]) => figure(`CPU of ${who}`, '% of a core', ms / 10)),
  ];
};

/** The commands per second during the next `seconds`, from MongoDB's own counters. */
async function commandsASecond(seconds: number): Promise<{ reads: number; updates: number }> {
  const before = await commandTotals();
  await setTimeout(seconds * 1_000);
  const after = await commandTotals();
  const perSecond = (names: string[]) =>
    names.reduce((sum, name) => sum + (after[name] ?? 0) - (before[name] ?? 0), 0) / seconds;
  return { reads: perSecond(readCommands), updates: perSecond(['update', 'bulkWrite', 'findAndModify']) };
}

async function commandTotals(): Promise<Record<string, number>> {
  const status = await mongoose.connection.db?.admin().serverStatus();
  const commands: Record<string, { total?: number | { toString(): string } }> = status?.metrics.commands ?? {};
  return Object.fromEntries(Object.entries(commands).map(([name, { total }]) => [name, Number(total ?? 0)]));
}
