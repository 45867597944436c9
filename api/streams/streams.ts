import { streamsOpen } from '../../shared/base/metrics.ts';
import { assertInTime } from '../http/answer-in-time.ts';
import type { RequestContext } from '../part.ts';
import { openLimits } from './open-limits.ts';

/** The interval of comments, which keep a stream open: the server closes a silent connection after 14 s. */
const heartbeatMs = 10_000;
/** A client with more unsent bytes is disconnected: its next stream begins with the current state, not a backlog. */
const maxUnsentBytes = 65_536;
/** At shutdown, clients have this long to read the rest of their streams. */
const defaultLingerMs = 1_000;

/** One client's stream of server-sent events. */
export interface Stream {
  /** Sends text in the form of `eventText` or `namedEvent`. Does nothing after the end. */
  send(text: string): void;
  end(): void;
  onClose(listener: () => void): void;
}

export interface Streams {
  /** Answers a request with a stream, or throws `too_many_streams`. Streams are counted per `client`. */
  open(ctx: RequestContext, client: string): Stream;
  readonly count: number;
  /**
   * Ends all streams. A stream that is opened later ends immediately, so that its client reconnects to another process.
   * Cuts the connections of clients that do not read the rest of their stream in time.
   */
  endAll(): void;
  close(): void;
}

/** Formats a server-sent event. */
export const namedEvent = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`;
export const eventText = (id: number, data: string): string => `id: ${id}\ndata: ${data}\n\n`;

/**
 * The streams that this process holds open: at most `all`, and at most `perClient` of each client. `client` is the word
 * for a client in the error message, e.g. "driver". A stream ends when its client closes its side of the connection,
 * and at shutdown.
 */
export function createStreams(
  { all, perClient, client: kind }: { all: number; perClient: number; client: string },
  lingerMs = defaultLingerMs,
): Streams {
  const limits = openLimits('too_many_streams', all);
  const open = new Set<ServerResponse>();
  let hasEnded = false;
  const beat = setInterval(() => {
    for (const response of open) write(response, ': still here\n\n');
  }, heartbeatMs).unref();

  return {
    open(ctx, client) {
      assertInTime(ctx);
      const leave = limits.enter([{ id: client, kind, most: perClient }]);
      const { req, res } = ctx;
      const end = () => void res.end();
      const part = { part: ctx.state.part.name };
      open.add(res);
      streamsOpen.inc(part);
      onceClosed(res, () => {
        open.delete(res);
        streamsOpen.dec(part);
        leave();
        req.socket.off('end', end);
      });
      begin(ctx);
      if (hasEnded || req.method === 'HEAD' || req.socket.readableEnded || res.closed) end();
      else req.socket.once('end', end);
      return { send: (text) => write(res, text), end, onClose: (listener) => onceClosed(res, listener) };
    },
    get count() {
      return open.size;
    },
    endAll() {
      hasEnded = true;
      for (const response of open) response.end();
      setTimeout(() => {
        for (const response of open) response.destroy();
      }, lingerMs).unref();
    },
    close: () => clearInterval(beat),
  };
}

type ServerResponse = RequestContext['res'];

/** Sends the status and the headers, and stops Koa from sending a body. */
function begin(ctx: RequestContext): void {
  ctx.set({
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store, no-transform',
    'X-Accel-Buffering': 'no',
  });
  ctx.respond = false;
  ctx.status = 200;
  // The connection is not reused after a stream.
  ctx.res.shouldKeepAlive = false;
  // A write after the end emits an error, which would end the process.
  ctx.res.on('error', () => {});
  ctx.res.flushHeaders();
}

/** If the client reset the connection before the stream began, `close` does not fire again. */
function onceClosed(response: ServerResponse, listener: () => void): void {
  if (response.closed) setImmediate(listener);
  else response.once('close', listener);
}

function write(response: ServerResponse, text: string): void {
  if (response.writableLength > maxUnsentBytes) response.destroy();
  else if (!response.writableEnded) response.write(text);
}
