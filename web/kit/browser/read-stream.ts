import { createParser } from 'eventsource-parser';

/** The server sends a comment every 10 s, so a stream that is silent for this long is dead, even if it looks open. */
const silenceMs = 25_000;

/** `over`: the page may not read the stream, or the stream is complete. `refused`: too many streams are open. */
export type StreamEnd = 'over' | 'refused' | 'broken';

interface StreamHandlers {
  /** `name` is empty for an event without a name. */
  onEvent(name: string, data: string): void;
  onOpen(response: Response): void;
}

/** Reads server-sent events until the stream ends. Uses fetch, because EventSource hides the status. */
export async function readStream(
  url: string,
  signal: AbortSignal,
  { onEvent, onOpen }: StreamHandlers,
): Promise<StreamEnd> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), silenceMs);
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, silence.signal]), cache: 'no-store' });
    if ([204, 401, 403, 404].includes(response.status)) return 'over';
    if (!response.ok || !response.body) return response.status === 429 ? 'refused' : 'broken';
    onOpen(response);
    const parser = createParser({ onEvent: ({ event = '', data }) => onEvent(event, data) });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), silenceMs);
      parser.feed(piece.value);
    }
    return 'broken';
  } catch {
    return 'broken';
  } finally {
    clearTimeout(timer);
  }
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const stop = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** Waits until no other tab of this browser holds the lock of this name, then calls `run` while holding it. */
export async function runWithLock(name: string, signal: AbortSignal, run: () => Promise<void>): Promise<void> {
  if (!navigator.locks) return run();
  await navigator.locks.request(name, { signal }, run);
}
