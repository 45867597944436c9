import http, { type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { setTimeout } from 'node:timers/promises';

const requestsPerSecond = 50;
const agent = new http.Agent({ keepAlive: true });

/** The time of a GET until the complete answer, in ms. */
export function timeOf(url: string, headers: OutgoingHttpHeaders): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    http
      .get(url, { agent, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${url} was answered ${response.statusCode}`));
        response.resume().once('end', () => resolve(performance.now() - startedAt));
      })
      .once('error', reject);
  });
}

/** Sends requests at a fixed rate for `seconds`. Resolves with their times in ms. */
export async function latencies(request: () => Promise<number>, seconds: number): Promise<number[]> {
  const count = seconds * requestsPerSecond;
  const asked: Promise<number>[] = [];
  for (const startedAt = performance.now(); asked.length < count; ) {
    const dueAt = startedAt + (asked.length * 1_000) / requestsPerSecond;
    await setTimeout(Math.max(0, dueAt - performance.now()));
    asked.push(request());
  }
  return Promise.all(asked);
}

/** Streams of server-sent events, each on its own connection. */
export function newStreams() {
  const open = new Set<IncomingMessage>();
  const ofStreams = new http.Agent({ maxSockets: Number.POSITIVE_INFINITY });
  return {
    /** Opens a stream. Resolves when it is answered with 200. */
    open: (url: string, headers: OutgoingHttpHeaders, onText: (text: string) => void) =>
      new Promise<void>((resolve, reject) => {
        http
          .get(url, { agent: ofStreams, headers }, (response) => {
            if (response.statusCode !== 200) return reject(new Error(`a stream was answered ${response.statusCode}`));
            open.add(response);
            response.once('close', () => open.delete(response));
            response.on('error', () => {});
            response.setEncoding('utf8').on('data', onText);
            resolve();
          })
          .once('error', reject);
      }),
    count: () => open.size,
    close() {
      for (const response of open) response.destroy();
    },
  };
}
