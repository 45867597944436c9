export interface ServerEvent {
  event: string;
  data: string;
}

/** The server-sent events of a response's body. Comments are left out. */
export async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let unread = '';
  for await (const chunk of body) {
    unread += decoder.decode(chunk, { stream: true });
    const texts = unread.split('\n\n');
    unread = texts.pop() ?? '';
    for (const text of texts) {
      const data = /^data: (.*)$/m.exec(text)?.[1];
      if (data !== undefined) yield { event: /^event: (.*)$/m.exec(text)?.[1] ?? 'message', data };
    }
  }
}
