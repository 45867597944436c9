import type { BenchKey } from './keys.ts';
import { rideRequest } from './rides.ts';

/** A creation as raw HTTP. */
export function creation({ key }: BenchKey, headers: Record<string, string> = {}): string {
  const body = JSON.stringify(rideRequest);
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return (
    `POST /v1/rides HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n${more.join('')}` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

export const retrieval = (key: BenchKey, rideId: string, below = ''): string =>
  reading(key, `/rides/${rideId}${below}`);

/** A GET of a path below the versioned base. */
export function reading({ key }: BenchKey, path: string): string {
  return `GET /v1${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n\r\n`;
}
