import fs from 'node:fs/promises';
import path from 'node:path';
import { libraryDirs, type Say, unpackedPackages } from './debian-packages.ts';

/** A program, and the environment variables to add for it. */
export type Command = { file: string; env: NodeJS.ProcessEnv };

/** The machine's `redis-server` or `valkey-server`, else a `redis-server` fetched into the project's cache. */
export async function redisCommand(say?: Say): Promise<Command> {
  for (const dir of (process.env.PATH ?? '').split(path.delimiter)) {
    for (const name of ['redis-server', 'valkey-server']) {
      const file = path.join(dir, name);
      if (await isExecutable(file)) return { file, env: {} };
    }
  }
  try {
    // Debian's redis-server is a link into the package redis-tools.
    const folder = await unpackedPackages(['redis-server', 'redis-tools'], { say });
    const LD_LIBRARY_PATH = libraryDirs(folder).join(':');
    return { file: path.join(folder, 'usr/bin/redis-server'), env: { LD_LIBRARY_PATH } };
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(`install redis-server or valkey-server, or set REDIS_URL (${reason})`, { cause: error });
  }
}

async function isExecutable(file: string): Promise<boolean> {
  return fs.access(file, fs.constants.X_OK).then(
    () => true,
    () => false,
  );
}
