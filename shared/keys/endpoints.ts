import mongoose from 'mongoose';
import type { AppliedForm } from '../accounts/sent-form.ts';
import { AppError } from '../base/errors.ts';
import { batch, oneOf } from '../base/mongo/batch.ts';
import { collection, findAll, recordSchema } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import type { SentEvent } from '../base/terms.ts';

/** A further webhook URL of a key, with its own copy of each event (contract, section 10.22). */
export interface Endpoint {
  _id: string;
  keyId: string;
  accountId: string;
  /** The slot within the key, from 2 on: the key's default URL is the first. */
  place: number;
  url: string;
  /** The events that are sent to it. */
  events: SentEvent[];
  /** `whsec_...`, encrypted for this record. */
  signingSecret: string;
  createdAt: Date;
  /** When it was turned off: nothing is sent to it since. */
  disabledAt?: Date;
  /** The time of the last roll of the signing secret. */
  rolledAt?: Date;
  /** The dashboard forms that changed it, newest last. */
  forms?: AppliedForm[];
}

/** The most webhook URLs of a key, with the default one. */
export const maxEndpoints = 5;

const endpointSchema = recordSchema();
// Unique, so that concurrent requests cannot exceed the limit.
endpointSchema.index({ keyId: 1, place: 1 }, { unique: true });
// Finds the ciphertexts of a SECRETS_KEY (secret-stores.ts).
endpointSchema.index({ signingSecret: 1 });
export const EndpointModel = mongoose.model<Endpoint>('Endpoint', endpointSchema, 'endpoints');
export const endpoints = collection<Endpoint>(EndpointModel);

/** An endpoint as its owner may see it. */
export type EndpointFacts = Omit<Endpoint, 'signingSecret' | 'place'>;
const withoutSecret = { signingSecret: 0, place: 0 } as const;

/** A key, and the account that must own it. */
interface OwnedKey {
  keyId: string;
  accountId: string;
}
/** An endpoint, and the key and account that must own it. */
export interface OwnedEndpoint extends OwnedKey {
  endpointId: string;
}
export const ownedBy = ({ endpointId, keyId, accountId }: OwnedEndpoint) => ({ _id: endpointId, keyId, accountId });

/** The endpoints of a key, in the order of their slots. Concurrent calls share one query. */
export const endpointsOf = batch<string, EndpointFacts[]>(async (keyIds) => {
  const options = { projection: withoutSecret, sort: { place: 1 }, ...timeLimit() } as const;
  const found = await findAll<Endpoint, EndpointFacts>(endpoints, { keyId: oneOf(keyIds) }, options);
  return keyIds.map((keyId) => found.filter((endpoint) => endpoint.keyId === keyId));
});

/** The endpoints of a key that want an event now. */
export const endpointsFor = async (keyId: string, event: SentEvent): Promise<EndpointFacts[]> =>
  (await endpointsOf(keyId)).filter(({ events, disabledAt }) => !disabledAt && events.includes(event));

/** One endpoint without its secret. Throws `endpoint_not_found`. */
export async function findEndpoint(endpoint: OwnedEndpoint): Promise<EndpointFacts> {
  const found = await endpoints.findOne<EndpointFacts>(ownedBy(endpoint), {
    projection: withoutSecret,
    ...timeLimit(),
  });
  if (!found) throw new AppError('endpoint_not_found');
  return found;
}
