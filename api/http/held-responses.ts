import type { ServerResponse } from 'node:http';
import type { RequestContext } from '../part.ts';

/** How long a client may take to read the rest of its stream after the end. */
const defaultLingerMs = 1_000;

/**
 * The responses that a part holds open, e.g. event streams. Each ends when its client closes its side of the connection, and
 * at a stop. The server closes a connection that is silent for 14 s, so a stream must write more often than that.
 */
export class HeldResponses {
  readonly #open = new Set<ServerResponse>();
  readonly #lingerMs: number;
  #isEnded = false;

  constructor(lingerMs = defaultLingerMs) {
    this.#lingerMs = lingerMs;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Sends status 200 and the headers that are set, and holds the response open for its caller to write to. It emits `close`
   * when it is over; a write after the end does nothing. After `endAll` it is ended at once: the client connects again,
   * to another process.
   */
  hold(ctx: RequestContext): ServerResponse {
    const { req, res } = ctx;
    ctx.respond = false;
    ctx.status = 200;
    // No request follows a stream on its connection.
    res.shouldKeepAlive = false;
    // A write after the end emits an error, which would end the process.
    res.on('error', () => {});
    res.flushHeaders();
    if (this.#isEnded || req.method === 'HEAD' || req.socket.readableEnded || res.closed) return res.end();
    this.#open.add(res);
    const end = () => res.end();
    req.socket.once('end', end);
    res.once('close', () => {
      req.socket.off('end', end);
      this.#open.delete(res);
    });
    return res;
  }

  /** Ends all of them, and cuts off a client that does not read on. */
  endAll(): void {
    this.#isEnded = true;
    for (const response of this.#open) response.end();
    setTimeout(() => {
      for (const response of this.#open) response.destroy();
    }, this.#lingerMs).unref();
  }
}
