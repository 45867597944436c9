import os from 'node:os';
import { cpuUsOf } from '../measured/machine-cpu.ts';
import type { Program } from '../measured/program.ts';
import type { Stack } from '../stack.ts';

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
      const perSecondMs = measured.map(({ name }, index): [string, number] => {
        return [name, ((after[index] ?? 0) - (before[index] ?? 0)) / 1_000 / seconds];
      });
      const totalMs = perSecondMs.reduce((sum, [, ms]) => sum + ms, 0);
      /** The CPU use of these programs together, in percent of a core. */
      const percentOf = (...names: string[]) =>
        perSecondMs.reduce((sum, [name, ms]) => sum + (names.includes(name) ? ms / 10 : 0), 0);
      const machinePercent = totalMs / 10 / os.availableParallelism();
      return { perSecondMs, percentOf, machinePercent, othersShare: othersShare() };
    },
  };
}
