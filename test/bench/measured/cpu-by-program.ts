import os from 'node:os';
import type { Stack } from '../stack.ts';
import { cpuUsOf } from './machine-cpu.ts';
import type { Program } from './program.ts';

/** Measures the CPU time of each program and server from now until `stop`. */
export async function cpuByProgram(stack: Stack, programs: readonly Program[]) {
  const servers = [
    { name: 'MongoDB', cpuUs: async () => cpuUsOf(stack.mongo.pid) },
    { name: 'Redis', cpuUs: async () => cpuUsOf(stack.redisServer.pid) },
    { name: 'the bench itself', cpuUs: async () => cpuUsOf(process.pid) },
  ];
  const measured = [...programs, ...servers];
  const read = () => Promise.all(measured.map(({ cpuUs }) => cpuUs()));
  const startedAt = performance.now();
  const othersShare = stack.watchOthers();
  const before = await read();
  return {
    async stop() {
      const after = await read();
      const seconds = (performance.now() - startedAt) / 1_000;
      const usedUs = measured.map(({ name }, index): [string, number] => {
        return [name, (after[index] ?? 0) - (before[index] ?? 0)];
      });
      const perSecondMs = usedUs.map(([name, us]): [string, number] => [name, us / 1_000 / seconds]);
      /** The CPU time of these programs together, in microseconds. */
      const usOf = (...names: string[]) => usedUs.reduce((sum, [name, us]) => sum + (names.includes(name) ? us : 0), 0);
      const totalMs = perSecondMs.reduce((sum, [, ms]) => sum + ms, 0);
      /** The CPU use of these programs together, in percent of a core. */
      const percentOf = (...names: string[]) => usOf(...names) / 10_000 / seconds;
      const machinePercent = totalMs / 10 / os.availableParallelism();
      return { perSecondMs, usOf, percentOf, machinePercent, othersShare: othersShare() };
    },
  };
}
