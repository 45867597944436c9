import { newAccountId, newAttemptId, newKeyId } from '../../shared/base/ids.ts';
import { type AttemptRecord, attempts } from '../../shared/webhooks/attempts.ts';

/** A record of an attempt of an event, by default a successful one of a new account. */
export function attemptRecord(changes: Partial<AttemptRecord> = {}): AttemptRecord {
  const at = changes.at ?? new Date();
  return {
    _id: newAttemptId(at.getTime()),
    accountId: newAccountId(),
    keyId: newKeyId(),
    mode: 'live',
    kind: 'event',
    event: 'ride.status',
    rideId: 'ride_of_tests',
    seq: 1,
    at,
    outcome: 'delivered',
    httpStatus: 200,
    url: 'https://partner.example/hook',
    address: '192.0.2.1',
    headers: { 'X-Service-Event': 'ride.status' },
    body: '{}',
    answer: 'ok',
    durationMs: 12,
    phases: { dns: 1, connect: 2, tls: 3, write: 0.1, answer: 5.9 },
    ...changes,
  };
}

/** Stores attempts at intervals of a second, the oldest first. */
export async function storedAttempts(changes: readonly Partial<AttemptRecord>[], startMs = 1_700_000_000_000) {
  const made = changes.map((change, index) => attemptRecord({ at: new Date(startMs + index * 1_000), ...change }));
  await attempts.insertMany(made, { ignoreUndefined: true });
  return made;
}
