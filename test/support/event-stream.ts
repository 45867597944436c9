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
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let unread = '';
  return {
    status: response.status,
    headers: response.headers,
    async next() {
      for (;;) {
        const end = unread.indexOf('\n\n');
        const event = end < 0 ? '' : unread.slice(0, end);
        if (end >= 0) unread = unread.slice(end + 2);
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data) return JSON.parse(data);
        if (end >= 0) continue;
        const piece = await reader?.read();
        if (!piece || piece.done) return null;
        unread += decoder.decode(piece.value, { stream: true });
      }
    },
    close: async () => reader?.cancel(),
  };
}
