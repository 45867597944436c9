import http from 'node:http';

export interface HttpRequest {
  method?: string;
  path: string;
  key?: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: object;
}

export interface HttpAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
  /** When the request was made, and when the answer was complete (`performance.now()`). */
  startedAt: number;
  endedAt: number;
}

export type HttpClient = ReturnType<typeof httpClient>;

const longestAnswerMs = 20_000;
/**
 * The service closes connections that are idle for 14 s. A connection idle for longer than this may be closing, so it
 * is not reused.
 */
const longestIdleMs = 5_000;

/** A client with at most `size` connections to one address, for one request at a time on each. */
export function httpClient(url: string, size = Number.POSITIVE_INFINITY) {
  const { hostname, port } = new URL(url);
  const agent = new http.Agent({ keepAlive: true, maxSockets: size, timeout: longestIdleMs });
  return {
    /** Rejects if there is no answer, or none within 20 s. */
    request({ method = 'GET', path, key, headers, body }: HttpRequest) {
      const text = body && JSON.stringify(body);
      const allHeaders = {
        ...(key && { Authorization: `Bearer ${key}` }),
        ...(text && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
        ...headers,
      };
      const signal = AbortSignal.timeout(longestAnswerMs);
      const options = { agent, hostname, port, method, path, headers: allHeaders, signal };
      const startedAt = performance.now();
      return new Promise<HttpAnswer>((resolve, reject) => {
        const read = (response: http.IncomingMessage) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
          response.on('end', () => {
            const { statusCode: status = 0, headers } = response;
            const text = Buffer.concat(chunks).toString();
            resolve({ status, headers, text, startedAt, endedAt: performance.now() });
          });
        };
        http.request(options, read).on('error', reject).end(text);
      });
    },
    close: () => agent.destroy(),
  };
}

/** The body of a small, valid creation. */
export const smallRide = { pickup: { lat: 40.7, lng: -74 }, destination: { lat: 40.8, lng: -73.9 }, fare: 25 };
