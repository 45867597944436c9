import type { ShownOutcome } from '../../../shared/rides/driver/driver-schemas.ts';

/** The routes of the drivers' gateway that the driver's page uses, and the service's clock. */

const base = '/drive/api';
export const streamUrl = `${base}/stream`;

/** A request that is not answered within this time counts as lost. */
const limitMs = 8_000;

export interface Answer {
  status: number;
  ok: boolean;
  body: unknown;
  /** The code and the English text of an error. */
  code: string;
  error?: string;
}

/** Resolves with null if the network or the service does not answer. */
export async function call(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object) {
  try {
    const response = await fetch(base + path, {
      method,
      cache: 'no-store',
      signal: AbortSignal.timeout(limitMs),
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    syncClock(response);
    const isNoAnswer = response.status >= 500 || response.status === 408 || response.status === 429;
    if (isNoAnswer) return null;
    const text = await response.text();
    const answered = text ? JSON.parse(text) : null;
    const code = response.headers.get('x-service-error') ?? '';
    return { status: response.status, ok: response.ok, body: answered, code, error: answered?.error } as Answer;
  } catch {
    return null;
  }
}

/** The outcome of a request for this driver; null if the service does not answer. */
export async function outcomeOf(rideId: string): Promise<ShownOutcome | null> {
  const answer = await call('GET', `/requests/${rideId}`);
  return answer?.ok ? (answer.body as ShownOutcome) : null;
}

let aheadMs = 0;

/** Corrects the clock by the `Date` of an answer. `Date` has a resolution of 1 s, so small differences are ignored. */
export function syncClock(response: Response): void {
  const date = Date.parse(response.headers.get('date') ?? '');
  if (Math.abs(date - serverNow()) > 2_000) aheadMs = date - Date.now();
}

/** Unix ms by the service's clock. */
export const serverNow = (): number => Date.now() + aheadMs;
