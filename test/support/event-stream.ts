import { EventSourceParserStream } from 'eventsource-parser/stream';

/** A stream of server-sent events, read one by one. */
export interface EventStream {
  status: number;
  headers: Headers;
  /** The data of the next event, or null when the stream has ended. */
  // biome-ignore lint/suspicious/noExplicitAny: tests assert what they expect of the data.
  next(): Promise<any>;
  close(): Promise<void>;
}

export async function openEventStream(url: string, headers: Record<string, string> = {}): Promise<EventStream> {
  const response = await fetch(url, { headers });
  const events = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  const reader = events?.getReader();
  return {
    status: response.status,
    headers: response.headers,
    async next() {
      const event = await reader?.read();
      return !event || event.done ? null : JSON.parse(event.value.data);
    },
    close: async () => reader?.cancel(),
  };
}

/** Reads a stream up to an event whose data fits. Throws if the stream ends before. */
export async function nextOf(stream: EventStream, fits: (data: Awaited<ReturnType<EventStream['next']>>) => boolean) {
  for (;;) {
    const data = await stream.next();
    if (data === null) throw new Error('the stream has ended');
    if (fits(data)) return;
  }
}
