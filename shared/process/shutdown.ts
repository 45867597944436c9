import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';

/**
 * Ends the process at the first SIGTERM, SIGINT or SIGHUP. Runs `close` once, and exits when it is done or after
 * `graceMs`, because closing can hang while Redis is unreachable. Work that is interrupted is repeated by another
 * process.
 */
export function shutdownOnSignal(log: Logger, graceMs: number, close: () => Promise<void>): void {
  let closing = false;
  // Flushes the log first, because process.exit does not end the process while a write to the log blocks.
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
        log.error({ error: describeError(error) }, 'closing failed: exiting with code 1');
        exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, shutdown);
}
