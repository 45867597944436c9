import fs from 'node:fs/promises';
import path from 'node:path';
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
  /** The names of all starts so far, in order. */
  readonly starts: readonly string[];
  names(): string[];
  isRunning(name: string): boolean;
  /** Starts a process and waits until it is ready. Does nothing if it runs. */
  start(name: string, plan: Plan): Promise<void>;
  stop(name: string): Promise<void>;
  /** Forgets a process that has ended. */
  remove(name: string): Promise<void>;
  stopAll(): Promise<void>;
}

export function serviceProcesses(logDir: string): ServiceProcesses {
  const started = new Map<string, ServiceProcess>();
  const stop = async (name: string) => void (await started.get(name)?.stop());
  const starts: string[] = [];
  return {
    starts,
    names: () => [...started.keys()],
    isRunning: (name) => started.get(name)?.isRunning ?? false,
    async start(name, { folder, command, env }) {
      if (started.get(name)?.isRunning) return;
      const [, file = '', ...args] = command;
      const running = serviceProcess({
        name,
        script: file.replace(/^dist\/|\.js$/g, ''),
        // The version that a link names when the process starts.
        build: path.join(await fs.realpath(folder), 'dist'),
        args,
        env,
        output: { logDir },
      });
      started.set(name, running);
      starts.push(name);
      await running.start();
    },
    stop,
    remove: async (name) => void started.delete(name),
    stopAll: async () => void (await Promise.all([...started.keys()].map(stop))),
  };
}
