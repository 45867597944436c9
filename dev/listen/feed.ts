import type { EventName } from '../../shared/base/terms.ts';
import { sleep } from '../stack/signals.ts';

/** An event of the feed (contract, section 10.3): only the fields that `npm run listen` reads. */
export interface FeedEvent {
  eventId: string;
  rideId: string;
  seq: number;
  event: EventName;
  /** Unix ms. */
  at: number;
  body: Record<string, unknown> | null;
}

interface FeedPage {
  events: FeedEvent[];
  cursor: string | null;
}

/** A permanent error, after which nothing is retried. */
class Refusal extends Error {
  override name = 'Refusal';
}

interface Feed {
  /** The service's address. */
  url: string;
  key: string;
  /** Where to start: `now`, `first` or a cursor. */
  after: string;
  /** Called with the reason when the service does not answer, and with undefined when it answers again. */
  onTrouble(why: string | undefined): void;
}

const waitSeconds = 25;
const answerTimeoutMs = 10_000;
const shortestPauseMs = 1_000;
const longestPauseMs = 10_000;

/**
 * Yields each page of a key's feed once, until the signal aborts. Yields the first page without waiting for events, so
 * that its cursor is known. Retries while the service does not answer. Throws Refusal.
 */
export async function* pagesOf(feed: Feed, signal: AbortSignal): AsyncGenerator<FeedPage> {
  let after = feed.after;
  let wait = 0;
  for (let failures = 0; !signal.aborted; ) {
    const askedAt = performance.now();
    const answer = await ask(feed, after, wait, signal);
    if (signal.aborted) return;
    if ('trouble' in answer) {
      feed.onTrouble(answer.trouble);
      failures += 1;
      const pauseMs = Math.min(longestPauseMs, shortestPauseMs * 2 ** (failures - 1));
      await sleep(Math.max(pauseMs, answer.retryAfterMs), signal);
      continue;
    }
    if (failures > 0) feed.onTrouble(undefined);
    failures = 0;
    yield answer;
    after = answer.cursor ?? after;
    // An early answer without events comes from a service that is stopping.
    const isEarly = wait > 0 && answer.events.length === 0 && performance.now() - askedAt < shortestPauseMs;
    if (isEarly) await sleep(shortestPauseMs, signal);
    wait = waitSeconds;
  }
}

interface Trouble {
  trouble: string;
  retryAfterMs: number;
}

async function ask({ url, key }: Feed, after: string, wait: number, ending: AbortSignal): Promise<FeedPage | Trouble> {
  const query = new URLSearchParams({ waitSeconds: String(wait), ...(after !== 'first' && { after }) });
  try {
    const response = await fetch(`${url}/v1/events?${query}`, {
      headers: { Authorization: `Bearer ${key}` },
      signal: AbortSignal.any([ending, AbortSignal.timeout(wait * 1_000 + answerTimeoutMs)]),
    });
    if (response.ok) return (await response.json()) as FeedPage;
    const { error = '' } = (await response.json().catch(() => ({}))) as { error?: unknown };
    const { status } = response;
    if (status < 500 && status !== 408 && status !== 429)
      throw new Refusal(`the service answers ${status}: ${printable(String(error))}`);
    const retryAfter = Number(response.headers.get('retry-after'));
    return { trouble: `the service answers ${status}`, retryAfterMs: 1_000 * Math.min(30, retryAfter || 0) };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    return { trouble: `the service does not answer (${codeOf(error)})`, retryAfterMs: 0 };
  }
}

/** Replaces control characters, because the service is not trusted and a terminal would execute them. */
export const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?');

/** The code of a network error. */
export function codeOf(error: unknown): string {
  const { name, code, cause } = error as NodeJS.ErrnoException & { cause?: { name?: string; code?: string } };
  const isTimeout = name === 'TimeoutError' || cause?.name === 'TimeoutError';
  return isTimeout ? 'timeout' : (cause?.code ?? code ?? name);
}
