import type { Attempt } from '../../shared/outbound/send.ts';

/** An attempt to a receiver that is a local target, with a new claim and a time limit of 30 s. */
export function attemptTo({ origin }: { origin: string }, changes: Partial<Attempt> = {}): Attempt {
  return {
    url: `${origin}/hook`,
    body: '{"event":"ride.status"}',
    localTargets: [origin],
    headersNow: () => ({ 'X-Service-Event': 'ride.status' }),
    renewClaim: () => Promise.reject(new Error('a new claim needs no renewal')),
    timeoutMs: 30_000,
    ...changes,
  };
}
