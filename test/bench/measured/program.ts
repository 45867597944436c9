import path from 'node:path';
import {
  lastLineOf,
  type ServiceProcess,
  type ServiceProcessOptions,
  serviceProcess,
} from '../../support/service-process.ts';
import type { Answer } from './ipc.ts';

/** A process of the bench: a process of the service, a floor, the load or a receiver. */
export interface Program extends Pick<ServiceProcess, 'name' | 'pid'> {
  ask<T>(kind: string, options?: object): Promise<T>;
  /** Its CPU time so far, in microseconds. */
  cpuUs(): Promise<number>;
  stop(): Promise<void>;
}

/** A program that listens on a port. */
export interface ListeningProgram extends Program {
  port: number;
}

export type ProgramOptions = Required<Pick<ServiceProcessOptions, 'name' | 'build' | 'script' | 'args' | 'env'>> & {
  logDir: string;
};

/**
 * Starts a compiled program and waits until it reports that it is ready. If it ends unexpectedly, all open questions
 * reject.
 */
export async function startProgram({ logDir, ...options }: ProgramOptions): Promise<Program> {
  const { name, build } = options;
  const output = { logDir };
  const waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  const running = serviceProcess({
    ...options,
    output,
    nodeArgs: ['--import', path.join(build, 'test/bench/measured/report-cpu.js')],
    onMessage(message) {
      const { id, answer, error } = message as Answer;
      if (error) waiting.get(id)?.reject(new Error(error));
      else waiting.get(id)?.resolve(answer as never);
      waiting.delete(id);
    },
  });
  await running.start();
  void running.ended().then(() => {
    for (const { reject } of waiting.values()) reject(new Error(`${name} ended: ${lastLineOf({ name, output })}`));
  });
  let lastId = 0;
  const ask = <T>(kind: string, question?: object) =>
    new Promise<T>((resolve, reject) => {
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      running.send({ id: lastId, ask: kind, options: question }).catch(reject);
    });
  return {
    name,
    pid: running.pid,
    ask,
    async cpuUs() {
      const { user, system } = await ask<NodeJS.CpuUsage>('cpu');
      return user + system;
    },
    async stop() {
      if (running.isRunning) await running.stop();
    },
  };
}
