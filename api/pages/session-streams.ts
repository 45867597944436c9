import type { Context } from '../../shared/base/context.ts';
import { describeError } from '../../shared/base/errors.ts';
import type { Stream } from './streams.ts';

/** A stream ends at most this long after its session. */
const lookMs = 2_000;

export interface SessionStreams {
  /** Ends the stream with the session of this token. */
  watch(stream: Stream, token: string): void;
  close(): void;
}

/** Ends streams with the sessions that opened them. However many they are, each look is one query of `living`. */
export function endWithSessions(
  service: Context,
  living: (tokens: readonly string[], nowMs: number) => Promise<Set<string>>,
): SessionStreams {
  const tokens = new Map<Stream, string>();

  async function look(): Promise<void> {
    if (tokens.size === 0) return;
    const found = await living([...new Set(tokens.values())], service.now());
    for (const [stream, token] of tokens) if (!found.has(token)) stream.end();
  }

  const timer = setInterval(() => {
    look().catch((error: unknown) =>
      service.log.warn({ error: describeError(error) }, 'sessions of streams could not be read'),
    );
  }, lookMs).unref();

  return {
    watch(stream, token) {
      tokens.set(stream, token);
      stream.onClose(() => tokens.delete(stream));
    },
    close: () => clearInterval(timer),
  };
}
