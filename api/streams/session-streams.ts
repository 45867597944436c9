import type { Context } from '../../shared/base/context.ts';
import type { Stream } from './streams.ts';
import { watch } from './watch.ts';

interface SessionStreams {
  /** Ends the stream with the session of this token, at most about 2 s after it. */
  add(stream: Stream, token: string): void;
  close(): void;
}

/** Ends streams with the sessions that opened them. `living` returns those of the tokens whose sessions have not ended. */
export function endWithSessions(
  { log, now }: Pick<Context, 'log' | 'now'>,
  living: (tokens: readonly string[], nowMs: number) => Promise<Set<string>>,
): SessionStreams {
  const sessions = watch<Stream>({
    async look(watched) {
      const found = await living([...watched.keys()], now());
      for (const [token, streams] of watched) {
        if (!found.has(token)) for (const stream of streams) stream.end();
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
