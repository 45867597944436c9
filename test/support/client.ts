import { documentProblem } from './documented.ts';

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert what they expect of a response.
  body: any;
  text: string;
}

/** A partner's API client. Paths are relative to the versioned base. */
export interface Client {
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  createRide(fields?: object, headers?: Record<string, string>): Promise<Answer>;
}

export const validRide = {
  pickup: { lat: 40.7128, lng: -74.006, address: '1 Main Street' },
  destination: { lat: 40.758, lng: -73.9855 },
  fare: 25,
};

/** Calls the API. Throws if the response differs from the OpenAPI document. */
export async function call(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const { status, headers } = response;
  const text = await response.text();
  const isJson = headers.get('content-type')?.startsWith('application/json');
  const body = isJson && text ? JSON.parse(text) : text || undefined;
  const { pathname, search } = new URL(url);
  const problem = documentProblem({
    method: init.method ?? 'GET',
    target: pathname + search,
    status,
    header: (name) => headers.get(name),
    headerNames: [...headers.keys()],
    body,
  });
  if (problem) throw new Error(`not as documented: ${problem}`);
  return { status, headers, text, body };
}

export function clientOf(url: string, secretKey: string, base = '/v1'): Client {
  const authorization = { authorization: `Bearer ${secretKey}` };
  const client: Client = {
    get: (path, headers) => call(url + base + path, { headers: { ...authorization, ...headers } }),
    post: (path, body, headers) => client.send('POST', path, body, headers),
    send: (method, path, body, headers) =>
      call(url + base + path, {
        method,
        headers: { ...authorization, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    createRide: (fields, headers) => client.post('/rides', { ...validRide, ...fields }, headers),
  };
  return client;
}
