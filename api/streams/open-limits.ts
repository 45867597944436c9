import { type AppError, limitReached } from '../../shared/base/errors.ts';

type LimitCode = 'too_many_streams' | 'too_many_waiting';

/** A client with at most `most` open streams or requests. `kind` names it in the error message, e.g. "key". */
interface LimitedClient {
  id: string;
  kind: string;
  most: number;
}

/** Limits the open streams or waiting requests of this process: to `all` in total, and to a number per client. */
export function openLimits(code: LimitCode, all: number) {
  const counts = new Map<string, number>();
  let total = 0;

  function leave(clients: readonly LimitedClient[]): void {
    total -= 1;
    for (const { id } of clients) {
      const left = (counts.get(id) ?? 1) - 1;
      if (left > 0) counts.set(id, left);
      else counts.delete(id);
    }
  }

  return {
    /** Counts a stream or request for each client, or throws `code`. Call the returned function once, at its end. */
    enter(clients: readonly LimitedClient[]): () => void {
      for (const { id, kind, most } of clients) {
        if ((counts.get(id) ?? 0) >= most) throw tooMany(code, `at most ${most} for each ${kind}`);
      }
      if (total >= all) throw tooMany(code, `at most ${all} in each process of the service`);
      total += 1;
      for (const { id } of clients) counts.set(id, (counts.get(id) ?? 0) + 1);
      return () => leave(clients);
    },
  };
}

/** The 429 of a limit. Retry-After is short, because other streams or requests may end at any time. */
export const tooMany = (code: LimitCode, limit: string): AppError => limitReached(code, limit, { 'Retry-After': '5' });
