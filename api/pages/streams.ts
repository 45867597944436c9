import { type AppError, limitReached } from '../../shared/errors.ts';
import { streamsOpen } from '../../shared/metrics/metrics.ts';
import { assertInTime } from '../http/answer-in-time.ts';
import { HeldResponses } from '../http/held-responses.ts';
import type { RequestContext } from '../types.ts';

/** The server closes a connection that is silent for 14 s, and some proxies close it sooner. */
const beatMs = 10_000;
/** A client that reads so slowly is better off with a new stream, which begins with the present state. */
const maxUnsentBytes = 65_536;

/** One client's stream of server-sent events. */
export interface Stream {
  /** Sends text in the form of `eventText`. */
  send(text: string): void;
  end(): void;
  onClose(listener: () => void): void;
}

export interface Streams {
  /** Answers a request with a stream, or throws `too_many_streams`. Streams are counted by `client`. */
  open(ctx: RequestContext, client: string): Stream;
  readonly count: number;
  endAll(): void;
  close(): void;
}

/** An event in the form of server-sent events. */
export const namedEvent = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`;
export const eventText = (id: number, data: string): string => `id: ${id}\ndata: ${data}\n\n`;

/**
 * The streams that this process holds open for pages: at most `all`, and at most `perClient` of one client. `client` is the
 * word of the refusal for a client, such as `driver`.
 */
export function createStreams(limits: { all: number; perClient: number; client: string }): Streams {
  const held = new HeldResponses();
  const open = new Set<Response>();
  const perClient = new Map<string, number>();
  const beat = setInterval(() => {
    for (const response of open) write(response, ': still here\n\n');
  }, beatMs).unref();

  function countIn(client: string): void {
    const count = perClient.get(client) ?? 0;
    if (count >= limits.perClient) throw tooManyStreams(`at most ${limits.perClient} for each ${limits.client}`);
    if (open.size >= limits.all) throw tooManyStreams(`at most ${limits.all} in each process of the service`);
    perClient.set(client, count + 1);
  }

  function countOut(client: string): void {
    const left = (perClient.get(client) ?? 1) - 1;
    if (left > 0) perClient.set(client, left);
    else perClient.delete(client);
  }

  return {
    open(ctx, client) {
      assertInTime(ctx);
      countIn(client);
      ctx.set({
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-store, no-transform',
        'X-Accel-Buffering': 'no',
      });
      const response = ctx.res;
      open.add(response);
      const ofPart = { part: ctx.state.part.name };
      streamsOpen.inc(ofPart);
      onceClosed(response, () => {
        open.delete(response);
        streamsOpen.dec(ofPart);
        countOut(client);
      });
      held.hold(ctx);
      return {
        send: (text) => write(response, text),
        end: () => response.end(),
        onClose: (listener) => onceClosed(response, listener),
      };
    },
    get count() {
      return open.size;
    },
    endAll: () => held.endAll(),
    close: () => clearInterval(beat),
  };
}

/** A stream ends when its page is closed, so there may be room for another at any time. */
export const tooManyStreams = (limit: string): AppError =>
  limitReached('too_many_streams', limit, { 'Retry-After': '5' });

type Response = RequestContext['res'];

/** The client may have reset the connection before the stream began: then `close` was emitted already, and is not again. */
function onceClosed(response: Response, listener: () => void): void {
  if (response.closed) setImmediate(listener);
  else response.once('close', listener);
}

function write(response: Response, text: string): void {
  if (response.writableLength > maxUnsentBytes) response.destroy();
  else if (!response.writableEnded) response.write(text);
}
