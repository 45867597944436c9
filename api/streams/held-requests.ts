import { pauseTimeLimit } from '../http/answer-in-time.ts';
import { idleTimeoutMs } from '../http/serve.ts';
import type { RequestContext } from '../part.ts';

export interface HeldRequest {
  /** Resolves with true on `release`; with false after the time, at shutdown, or when the client disconnects. */
  over: Promise<boolean>;
  release(): void;
}

/**
 * Requests that wait before they are answered (long polls). The time limits of requests and of silent connections do
 * not apply to them. A shutdown ends their wait.
 */
export class HeldRequests {
  readonly #held = new Set<() => void>();
  #isEnded = false;

  get size(): number {
    return this.#held.size;
  }

  /** Holds a request for at most `ms`. Await `over` before using the request again. */
  hold(ctx: RequestContext, ms: number): HeldRequest {
    const { res } = ctx;
    const { socket } = ctx.req;
    let resolve = (_isReleased: boolean) => {};
    const ended = new Promise<boolean>((end) => {
      resolve = end;
    });
    const end = () => resolve(false);
    const resumeTimeLimit = pauseTimeLimit(ctx);
    socket.setTimeout(ms + idleTimeoutMs);
    const timer = setTimeout(end, ms);
    // A client that closes its side of the connection no longer waits.
    socket.once('end', end);
    res.once('close', end);
    this.#held.add(end);
    if (this.#isEnded || socket.readableEnded || socket.destroyed) end();
    const over = ended.then((isReleased) => {
      this.#held.delete(end);
      clearTimeout(timer);
      socket.off('end', end);
      res.off('close', end);
      socket.setTimeout(idleTimeoutMs);
      resumeTimeLimit();
      return isReleased;
    });
    return { over, release: () => resolve(true) };
  }

  /** Ends the wait of all requests; later requests do not wait. */
  endAll(): void {
    this.#isEnded = true;
    for (const end of this.#held) end();
  }
}
