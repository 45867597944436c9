import type { Context } from '../../shared/base/context.ts';
import type { Stream } from './streams.ts';
import { watch } from './watch.ts';

interface SessionStreams {
  /** Adds a stream. It ends within about 2 s after the session of this token has ended. */
  add(stream: Stream, token: string): void;
  close(): void;
}

/** Ends streams with their sessions. `findActive` returns the tokens whose sessions have not ended. */
export function endWithSessions(
  { log, now }: Pick<Context, 'log' | 'now'>,
  findActive: (tokens: readonly string[], nowMs: number) => Promise<Set<string>>,
): SessionStreams {
  const sessions = watch<Stream>({
    async look(watched) {
      const active = await findActive([...watched.keys()], now());
      for (const [token, streams] of watched) {
        if (!active.has(token)) for (const stream of streams) stream.end();
      }
    },
    pollMs: 2_000,
    log,
    failure: 'sessions of streams could not be read',
  });
  return {
    add: (stream, token) => stream.onClose(sessions.join(token, stream)),
    close: sessions.close,
  };
}
