import type { Context } from '../../../shared/base/context.ts';
import { newOfferId } from '../../../shared/base/ids.ts';
import type { NewKey } from '../../../shared/keys/manage-keys.ts';
import { type RideStatus, rideStatuses } from '../../../shared/rides/ride-types.ts';
import { formProblem } from '../../support/answer-form.ts';
import { type AnyRequest, anyRequestBytes, type Filling } from '../../support/any-request.ts';
import { creationLog } from '../../support/charges.ts';
import { rideIn } from '../../support/rides.ts';
import { httpClient, NoAnswer } from '../figures/http-client.ts';
import { numbers } from '../figures/in-world.ts';
import type { World } from '../world/world.ts';
import type { Malformed } from './malformed.ts';
import { tryMalformed } from './raw-cases.ts';
import { canaryOf, knownFields } from './stored.ts';

const connections = 50;
const keyCount = 6;
const ridesOfKey = 12;

/** Sends the cases, and records their results. */
export interface Target {
  tried: { all: number; malformed: number };
  /** Number of answers to well-formed requests, by status. */
  seen: Map<number, number>;
  /** Ids of rides whose creation was answered 201, and of the rides that this process created for the cases. */
  made: Set<string>;
  /** The canaries of all refused requests. */
  refused: Set<string>;
  /** The fields that a ride can have. */
  fields: ReadonlySet<string>;
  /** Prepares a key for the next batch: with a new ride and a reset creation limit. */
  nextBatch(): Promise<NewKey>;
  /** Sends a well-formed request. Resolves with the problem of the answer, if it has one. */
  tryRequest(key: NewKey, generated: AnyRequest): Promise<string | undefined>;
  /** Sends malformed bytes. Resolves with the problem of the answer, if it has one. */
  tryBytes(key: NewKey, generated: Malformed): Promise<string | undefined>;
  close(): void;
}

export async function fuzzTarget(world: World, ctx: Context): Promise<Target> {
  const clients = world.apis.map(({ url }) => httpClient(url, connections));
  const tried = { all: 0, malformed: 0 };
  const seen = new Map<number, number>();
  const made = new Set<string>();
  const refused = new Set<string>();
  const own = new Map<string, { rideId: string; offerId: string }[]>();
  let batches = 0;

  const newRide = async (key: NewKey, status: RideStatus) => {
    const ride = await rideIn(ctx, status, { keyId: key.keyId, mode: key.mode });
    made.add(ride.rideId);
    own.set(key.keyId, [ride, ...(own.get(key.keyId) ?? [])].slice(0, ridesOfKey));
  };
  const fill = (key: NewKey, number: number): Filling => {
    const rides = own.get(key.keyId) ?? [];
    const ride = rides[number % rides.length];
    const [RIDE, OFFER] = [ride?.rideId ?? 'ride_x', ride?.offerId ?? newOfferId()];
    return { KEY: key.key, RIDE, OFFER, CANARY: canaryOf(number) };
  };
  const processOf = <T>(ofEach: readonly T[], number: number): T => ofEach[number % ofEach.length] as T;

  const keys = await Promise.all(
    numbers(keyCount).map((n) => world.newKey({ mode: n % 2 ? 'live' : 'test', manner: 'none' })),
  );
  for (const key of keys) for (const status of rideStatuses) await newRide(key, status);
  const fields = await knownFields();

  return {
    tried,
    seen,
    made,
    refused,
    fields,
    async nextBatch() {
      const key = processOf(keys, batches++);
      // Resets the creation limit; otherwise nearly every creation would be a 429.
      await ctx.redis.del(keys.map(({ keyId }) => creationLog(keyId)));
      await newRide(key, 'bidding');
      return key;
    },
    async tryRequest(key, generated) {
      const number = ++tried.all;
      const filling = fill(key, number);
      const bytes = anyRequestBytes(generated, filling, 'keep-alive');
      try {
        const answer = await processOf(clients, number).send(bytes, { isHead: generated.method === 'HEAD' });
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
        if (answer.status === 201) made.add(JSON.parse(answer.text).rideId);
        else refused.add(filling.CANARY);
        return formProblem(answer, generated.method);
      } catch (error) {
        return error instanceof NoAnswer ? error.message : `the connection failed: ${(error as Error).name}`;
      }
    },
    async tryBytes(key, generated) {
      const number = ++tried.all;
      tried.malformed += 1;
      const filling = fill(key, number);
      const text = generated.text.replace(/KEY|CANARY/g, (name) => filling[name as keyof Filling]);
      const outcome = await tryMalformed(processOf(world.apis, number).url, generated, Buffer.from(text, 'latin1'));
      for (const rideId of outcome.rideIds) made.add(rideId);
      if (outcome.isRefused) refused.add(filling.CANARY);
      return outcome.problem && `${generated.kind}: ${outcome.problem}`;
    },
    close() {
      for (const client of clients) client.close();
    },
  };
}
