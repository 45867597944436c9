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
export type ServiceProcesses = ReturnType<typeof serviceProcesses>;

export function serviceProcesses(logDir: string) {
  const started = new Map<string, ServiceProcess>();
  const stop = async (name: string) => void (await started.get(name)?.stop());
  const starts: string[] = [];
  return {
    /** The names of all starts so far, in order. */
    starts,
    names: () => [...started.keys()],
    isRunning: (name: string) => started.get(name)?.isRunning ?? false,
    /** Starts a process and waits until it is ready. Does nothing if it runs. */
    async start(name: string, { folder, command, env }: Plan) {
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
    /** Forgets a process that has ended. */
    remove: async (name: string) => void started.delete(name),
    stopAll: async () => void (await Promise.all([...started.keys()].map(stop))),
  };
}
