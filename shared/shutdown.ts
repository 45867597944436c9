import { describeError } from './errors.ts';
import type { Logger } from './logger.ts';

/**
 * Ends the process cleanly at the first SIGTERM, SIGINT or SIGHUP: `close` runs once, and after graceMs the process ends
 * whatever is still open, because closing can hang while Redis is away. What was cut off is done again elsewhere.
 */
export function shutdownOnSignal(log: Logger, graceMs: number, close: () => Promise<void>): void {
  let closing = false;
  // A blocked write keeps process.exit from ending the process.
  const exit = (code: number) =>
    log.flush((blocked) => (blocked ? process.kill(process.pid, 'SIGKILL') : process.exit(code)));
  const shutdown = (signal: NodeJS.Signals) => {
    if (closing) return;
    closing = true;
    log.info({ signal }, 'closing');
    setTimeout(() => {
      log.warn('grace period over: ending with work in flight');
      exit(0);
    }, graceMs).unref();
    close().then(
      () => exit(0),
      (error) => {
        log.error({ error: describeError(error) }, 'closing failed');
        exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, shutdown);
}
