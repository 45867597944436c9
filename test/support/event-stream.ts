import { EventSourceParserStream } from 'eventsource-parser/stream';

/** A stream of server-sent events, read one by one. */
export type EventStream = Awaited<ReturnType<typeof openEventStream>>;

export async function openEventStream(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers });
  const events = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  const reader = events?.getReader();
  return {
    status: response.status,
    headers: response.headers,
    /** The data of the next event, or null when the stream has ended. */
    async next() {
      const event = await reader?.read();
      return !event || event.done ? null : JSON.parse(event.value.data);
    },
    close: async () => reader?.cancel(),
  };
}

/** Returns a function that opens streams, which are closed after each test of the surrounding describe. */
export function useEventStreams(): typeof openEventStream {
  const opened: EventStream[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((stream) => stream.close()));
  });
  return async (url, headers) => {
    const stream = await openEventStream(url, headers);
    opened.push(stream);
    return stream;
  };
}

type Data = Awaited<ReturnType<EventStream['next']>>;

/** Reads a stream up to an event whose data fits, and resolves with it. Throws if the stream ends before. */
export async function nextOf(stream: EventStream, fits: (data: Data) => boolean): Promise<Data> {
  for (;;) {
    const data = await stream.next();
    if (data === null) throw new Error('the stream has ended');
    if (fits(data)) return data;
  }
}

/** Resolves when a stream has ended. */
export async function endOf(stream: EventStream): Promise<void> {
  for (let data = await stream.next(); data !== null; ) data = await stream.next();
}
