import { pauseTimeLimit } from '../http/answer-in-time.ts';
import { silenceMs } from '../http/serve.ts';
import type { RequestContext } from '../part.ts';

export interface HeldRequest {
  /** Resolves with true when it was released; with false when its time is over, at a stop, or when its client has gone. */
  over: Promise<boolean>;
  release(): void;
}

/**
 * Requests that wait before they are answered (long polls). Neither the time limit of an answer nor that of a silent
 * connection applies to them, and a stop ends their wait.
 */
export class HeldRequests {
  readonly #held = new Set<() => void>();
  #isEnded = false;

  get size(): number {
    return this.#held.size;
  }

  /** Holds a request for at most `ms`. Await `over` before anything else is done with the request. */
  hold(ctx: RequestContext, ms: number): HeldRequest {
    const { res } = ctx;
    const { socket } = ctx.req;
    let resolve = (_isReleased: boolean) => {};
    const ended = new Promise<boolean>((end) => {
      resolve = end;
    });
    const end = () => resolve(false);
    const resumeTimeLimit = pauseTimeLimit(ctx);
    socket.setTimeout(ms + silenceMs);
    const timer = setTimeout(end, ms);
    // A client that closes its side of the connection does not wait any longer.
    socket.once('end', end);
    res.once('close', end);
    this.#held.add(end);
    if (this.#isEnded || socket.readableEnded || socket.destroyed) end();
    const over = ended.then((isReleased) => {
      this.#held.delete(end);
      clearTimeout(timer);
      socket.off('end', end);
      res.off('close', end);
      socket.setTimeout(silenceMs);
      resumeTimeLimit();
      return isReleased;
    });
    return { over, release: () => resolve(true) };
  }

  /** Ends the wait of all of them, and from then on of each new one at once. */
  endAll(): void {
    this.#isEnded = true;
    for (const end of this.#held) end();
  }
}
