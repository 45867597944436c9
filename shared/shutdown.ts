import { describeError } from './errors.ts';
import type { Logger } from './logger.ts';

/**
 * Ends the process cleanly at the first SIGTERM or SIGINT: `close` runs once, and after graceMs the process ends
 * whatever is still open, because closing can hang while Redis is away. What was cut off is done again elsewhere.
 */
export function shutdownOnSignal(log: Logger, graceMs: number, close: () => Promise<void>): void {
  let closing = false;
  const shutdown = (signal: NodeJS.Signals) => {
    if (closing) return;
    closing = true;
    log.info({ signal }, 'closing');
    setTimeout(() => {
      log.warn('grace period over: ending with work in flight');
      process.exit(0);
    }, graceMs).unref();
    close().then(
      () => process.exit(0),
      (error) => {
        log.error({ error: describeError(error) }, 'closing failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', shutdown);
  process.on('SIGINT', shutdown);
}
