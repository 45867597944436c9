import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { faketimeLibrary } from '../../dev/servers/faketime.ts';
import { startMongo } from '../../dev/servers/mongo.ts';
import { restartable } from './restartable.ts';

/** A MongoDB engine whose wall clock (`$$NOW`) can be set while the engine runs. Its monotonic clock never changes. */
export type SteppableMongo = Awaited<ReturnType<typeof startSteppableMongo>>;

/**
 * Starts a separate engine for a test, with an empty database. Pass its `url` to `startTestApi` or `testContext` as
 * MONGO_URL, or to `startReplicaSet`. Linux only, so define tests that need it with `describeOnLinux`.
 */
export async function startSteppableMongo() {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rides-clock-'));
  const offsetFile = path.join(folder, 'offset');
  const setClock = async (aheadMs: number) => {
    const text = `${aheadMs < 0 ? '' : '+'}${(aheadMs / 1_000).toFixed(3)}`;
    // Renames the file into place, so that the engine never reads half of it.
    await fs.writeFile(`${offsetFile}.new`, text);
    await fs.rename(`${offsetFile}.new`, offsetFile);
  };
  await setClock(0);
  const env = await shiftedClock(offsetFile);
  const engine = await restartable(() => startMongo({ dataDir: path.join(folder, 'data'), env }));
  return Object.assign(engine, {
    /**
     * Sets the engine's clock `aheadMs` ahead of this machine's clock (negative: behind), from the next command on.
     * Processes of the service notice it after about a second (followMongoClock).
     */
    setClock,
    /** Ends the engine and removes its data. */
    async close() {
      await engine.stop();
      await fs.rm(folder, { recursive: true, force: true });
    },
  });
}

/**
 * Like `describe`, but skipped on systems other than Linux, and if TEST_MONGO_URL replaces the embedded engine. The
 * fault suite imports this file without mocha.
 */
export function describeOnLinux(title: string, suite: (this: Mocha.Suite) => void): void {
  if (process.platform === 'linux' && !process.env.TEST_MONGO_URL) describe(title, suite);
  else describe.skip(title, suite);
}

/**
 * The environment of a process whose wall clock is shifted by the contents of `offsetFile`, in seconds with a sign
 * (`+8`). Each read of the clock reads the file. The monotonic clock and timers are not affected.
 */
async function shiftedClock(offsetFile: string): Promise<NodeJS.ProcessEnv> {
  return {
    LD_PRELOAD: await faketimeLibrary(),
    FAKETIME_TIMESTAMP_FILE: offsetFile,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    // Without this, each journaled write of the engine would wait 100 ms.
    FAKETIME_FORCE_MONOTONIC_FIX: '0',
    FAKETIME_DISABLE_SHM: '1',
  };
}
