import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { SignatureError } from './errors.ts';
import type { EventPage, Operations, ReceivedEvent, RideEvent } from './generated.ts';
import { constructEvent } from './signature.ts';

export interface FollowOptions {
  /** Where to begin: a `position` that you have stored, or `now`. Default: with the first event of the key. */
  from?: string;
  /** The signing secret of the key, for `receive` and `listener`. After a roll, the new and the old one. */
  secret?: string | readonly string[];
  /** Ends the iteration. */
  signal?: AbortSignal;
}

/** What `position` holds. */
interface Position {
  cursor?: string;
  /** The newest `at` of the events before the cursor, in Unix ms. */
  fedAt: number;
  /** The number of the last yielded event of each ride that has yielded events after the cursor. */
  ahead: Record<string, number>;
}

const waitSeconds = 25;
const longestBody = 65_536;
/** More events than this are left to the feed. */
const mostWaiting = 1_000;
const pauseMs = 1_000;

/**
 * Yields each event of a key once, and those of a ride in order, from the event feed and from webhooks. The feed has
 * every event, 3 to 4 seconds after it happens. A webhook is only faster: an event is yielded at once if it is the next
 * one of its ride, and else when the feed reaches it. So a webhook may be lost, sent twice or come too late.
 *
 * Waits while the service does not answer. Throws a ServiceError that is not temporary. Iterate it once.
 */
export class Follower implements AsyncIterable<RideEvent> {
  readonly #client: Operations;
  readonly #options: FollowOptions;
  readonly #position: Position;
  /** The number of the last yielded event of each ride that may have further events. */
  readonly #last = new Map<string, number>();
  #waiting: RideEvent[] = [];
  #wake = () => {};

  /** Use `follow` of the client. */
  constructor(client: Operations, options: FollowOptions) {
    this.#client = client;
    this.#options = options;
    const { from } = options;
    this.#position = from?.startsWith('{') ? JSON.parse(from) : { cursor: from, fedAt: 0, ahead: {} };
    for (const [rideId, sequence] of Object.entries(this.#position.ahead)) this.#last.set(rideId, sequence);
  }

  /**
   * Where the iteration is. Store it when an event is handled, and pass it as `from` after a restart: then the events
   * that were handled do not come again.
   */
  get position(): string {
    return JSON.stringify(this.#position);
  }

  /** Takes a request to your receiver. Throws a SignatureError if it does not come from the service. */
  receive(rawBody: Uint8Array | string, headers: IncomingHttpHeaders | Headers): ReceivedEvent {
    const { secret } = this.#options;
    if (!secret?.length) throw new Error('follow needs the secret');
    const header = (name: string) => (headers instanceof Headers ? headers.get(name) : headers[name]) ?? undefined;
    const event = constructEvent(rawBody, header('x-service-signature') as string | undefined, secret);
    // The ride of a test event does not exist, and `offer.withdrawn` has no place among the events of its ride.
    const isNext = header('x-service-test') !== 'true' && 'sequence' in event;
    if (isNext && this.#waiting.length < mostWaiting) this.#waiting.push(event);
    this.#wake();
    return event;
  }

  /** A receiver for `http.createServer`. */
  readonly listener = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const answer = (status: number) => void response.writeHead(status).end();
    if (request.method !== 'POST') return answer(405);
    try {
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of request) {
        size += chunk.length;
        if (size > longestBody) return answer(413);
        chunks.push(chunk);
      }
      this.receive(Buffer.concat(chunks), request.headers);
      answer(204);
    } catch (error) {
      answer(error instanceof SignatureError ? 400 : 500);
    }
  };

  async *[Symbol.asyncIterator](): AsyncGenerator<RideEvent> {
    const ending = new AbortController();
    const { signal } = this.#options;
    signal?.addEventListener('abort', () => ending.abort());
    if (signal?.aborted) return;
    try {
      let page = this.#readFeed(0, ending.signal);
      for (;;) {
        const received = new Promise<undefined>((resolve) => {
          this.#wake = () => resolve(undefined);
        });
        for (const event of this.#waiting.splice(0)) if (this.#isNext(event)) yield this.#note(event);
        const fed = await Promise.race([page, received]);
        if (!fed) continue;
        for (const { body, eventId, rideId, seq } of fed.events) {
          // A body without these two fields is older than they are.
          const isNew = body && seq > (this.#last.get(rideId) ?? 0);
          if (isNew) yield this.#note({ ...body, eventId, sequence: seq });
        }
        this.#pass(fed);
        page = this.#readFeed(fed.hasMore ? 0 : waitSeconds, ending.signal);
      }
    } catch (error) {
      if (!signal?.aborted) throw error;
    } finally {
      ending.abort();
    }
  }

  /** Resolves with the next page of the feed. Tries until it gets one. */
  #readFeed(wait: number, signal: AbortSignal): Promise<EventPage> {
    const read = async () => {
      const askedAt = performance.now();
      const after = this.#position.cursor;
      const page = await this.#client.listEvents({ after, waitSeconds: wait, trySeconds: Infinity, signal });
      // A service that is stopping answers early.
      const isEarly = wait > 0 && page.events.length === 0 && performance.now() - askedAt < pauseMs;
      if (isEarly) await setTimeout(pauseMs, undefined, { signal });
      return page;
    };
    const page = read();
    // The iteration handles an error when it awaits the page.
    page.catch(() => {});
    return page;
  }

  /** True if nothing of its ride is missing before a webhook's event, and the event was not yielded. */
  #isNext({ rideId, sequence, at }: RideEvent): boolean {
    const last = this.#last.get(rideId);
    if (last !== undefined) return sequence === last + 1;
    // The feed has passed all events up to this time, also those of rides that have ended.
    return sequence === 1 && at > this.#position.fedAt;
  }

  #note(event: RideEvent): RideEvent {
    this.#last.set(event.rideId, event.sequence);
    this.#position.ahead[event.rideId] = event.sequence;
    return event;
  }

  /** Moves the position behind a page. */
  #pass({ events, cursor }: EventPage): void {
    const position = this.#position;
    position.cursor = cursor ?? position.cursor;
    for (const { rideId, seq, at, body } of events) {
      position.fedAt = Math.max(position.fedAt, at);
      if ((position.ahead[rideId] ?? 0) <= seq) delete position.ahead[rideId];
      const isLast = body?.event === 'ride.status' && /^(completed|cancelled)$/.test(body.status);
      if (isLast) this.#last.delete(rideId);
    }
  }
}
