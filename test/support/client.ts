import { documentProblem } from './documented.ts';

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert what they expect of a response.
  body: any;
  text: string;
}

/** A partner's API client. Paths are relative to the versioned base. */
export type Client = ReturnType<typeof clientOf>;

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

type HeaderFields = Record<string, string>;

export function clientOf(url: string, secretKey: string, base = '/v1') {
  const authorization = { authorization: `Bearer ${secretKey}` };
  const send = (method: string, path: string, body?: unknown, headers?: HeaderFields) =>
    call(url + base + path, {
      method,
      headers: { ...authorization, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const post = (path: string, body?: unknown, headers?: HeaderFields) => send('POST', path, body, headers);
  return {
    get: (path: string, headers?: HeaderFields) =>
      call(url + base + path, { headers: { ...authorization, ...headers } }),
    send,
    post,
    createRide: (fields?: object, headers?: HeaderFields) => post('/rides', { ...validRide, ...fields }, headers),
  };
}
