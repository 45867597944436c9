import fs from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type ServiceProcess, serviceProcess } from '../../support/service-process.ts';

/** How a process of the service is started. */
export interface Plan {
  /** The folder of a version. */
  folder: string;
  /** As in a unit or a container: `node dist/api/main.js`. */
  command: readonly string[];
  env: Record<string, string>;
}

/** The processes of a host, by name. */
export interface ServiceProcesses {
  names(): string[];
  isRunning(name: string): boolean;
  /** Starts a process and waits until it is ready. Does nothing if it runs with the same plan. */
  start(name: string, plan: Plan): Promise<void>;
  stop(name: string): Promise<void>;
  stopAll(): Promise<void>;
}

export function serviceProcesses(logDir: string): ServiceProcesses {
  const started = new Map<string, { plan: Plan; running: ServiceProcess }>();
  const stop = async (name: string) => void (await started.get(name)?.running.stop());
  return {
    names: () => [...started.keys()],
    isRunning: (name) => started.get(name)?.running.isRunning ?? false,
    async start(name, given) {
      // The version that a link names when the process starts.
      const plan = { ...given, folder: await fs.realpath(given.folder) };
      const before = started.get(name);
      if (before?.running.isRunning && isDeepStrictEqual(before.plan, plan)) return;
      await stop(name);
      const [, file = '', ...args] = plan.command;
      const running = serviceProcess({
        name,
        script: file.replace(/^dist\/|\.js$/g, '') as 'api/main' | 'workers/main',
        build: path.join(plan.folder, 'dist'),
        args,
        env: plan.env,
        output: { logDir },
      });
      started.set(name, { plan, running });
      await running.start();
    },
    stop,
    stopAll: async () => void (await Promise.all([...started.keys()].map(stop))),
  };
}
