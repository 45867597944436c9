import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import type { NewKey } from '../../../shared/keys/manage-keys.ts';
import { call, validRide } from '../../support/client.ts';

/** Creates a ride through the first API process that answers, like a proxy. Resolves with its id. */
export async function createRideAt(apis: () => string[], { key }: NewKey): Promise<string> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  };
  for (let tries = 0; ; tries++) {
    const running = apis();
    const api = running[tries % running.length];
    try {
      const { status, text, body } = await call(`${api}/v1/rides`, {
        method: 'POST',
        headers,
        body: JSON.stringify(validRide),
      });
      expect(status, text).to.equal(201);
      return body.rideId;
    } catch (error) {
      if (!(error instanceof TypeError) || tries === 20) throw error;
      await setTimeout(50);
    }
  }
}
/** Creates five rides per second until the work is done. Resolves with their ids. Each creation must return 201. */
export async function createRidesDuring(
  apis: () => string[],
  keys: readonly NewKey[],
  work: Promise<unknown>,
): Promise<string[]> {
  const made: string[] = [];
  let isDone = false;
  const end = () => {
    isDone = true;
  };
  work.then(end, end);
  // This loop stays below the limit of 30 creations per minute and key.
  while (!isDone) {
    const key = keys[made.length % keys.length] as NewKey;
    if (made.length < keys.length * 25) made.push(await createRideAt(apis, key));
    await setTimeout(200);
  }
  await work;
  return made;
}
