import type mongoose from 'mongoose';
import { type AppliedForm, keptForms } from '../accounts/sent-form.ts';
import type { Config } from '../base/config.ts';
import { decrypt, encrypt } from '../base/encryption.ts';
import { AppError } from '../base/errors.ts';
import { mongoNow } from '../base/mongo/clock.ts';
import { exists, insertOnce } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { checkGivenTarget } from '../targets/given-target.ts';
import { keys } from './api-key.ts';
import { activeKeyOf, unknownKey } from './change-key.ts';
import {
  type Endpoint,
  type EndpointFacts,
  endpoints,
  findEndpoint,
  maxEndpoints,
  type OwnedEndpoint,
  ownedBy,
} from './endpoints.ts';
import { newSigningSecret } from './key-format.ts';
import { keyChanged } from './replace-secret.ts';

type Secrets = Pick<Config, 'secrets'>;
type EndpointSettings = Secrets & Pick<Config, 'environment' | 'webhookLocalTargets'> & { port?: number };

/**
 * Adds an endpoint with this id to an active key, in its lowest free slot, and resolves with its secret; with null if
 * the id exists, because a form was sent again. The caller waits for `untilSettingsApply`. Throws `not_found` for a key
 * that is unknown, revoked or of another account, `invalid_request` for a URL that is not allowed (contract, section 6,
 * rule 2), and `endpoints_full`.
 */
export async function addEndpoint(
  config: EndpointSettings,
  { endpointId: _id, keyId, accountId }: OwnedEndpoint,
  { url, events }: Pick<Endpoint, 'url' | 'events'>,
): Promise<{ endpoint: EndpointFacts; signingSecret: string } | null> {
  const refusal = checkGivenTarget(config, url);
  if (refusal) throw new AppError('invalid_request', { message: `url ${refusal}` });
  // Set before the insert and never removed: deliveries read the endpoints only of keys with this field.
  const mark = await keys.updateOne(activeKeyOf(keyId, { accountId }), { $set: { hasEndpoints: true } });
  if (mark.matchedCount === 0) throw unknownKey();
  const signingSecret = newSigningSecret();
  const facts = { _id, keyId, accountId, url, events, createdAt: await mongoNow() };
  const sealed = encrypt(signingSecret, config.secrets.keys, _id);
  for (let place = 2; place <= maxEndpoints; place += 1) {
    const isInserted = await insertOnce(endpoints, { ...facts, place, signingSecret: sealed });
    if (isInserted) return { endpoint: facts, signingSecret };
    if (await exists(endpoints, { _id })) return null;
  }
  throw new AppError('endpoints_full');
}

/** Deletes an endpoint. What waits for it is recorded as failed. Resolves with false if it does not exist. */
export const deleteEndpoint = async (endpoint: OwnedEndpoint): Promise<boolean> =>
  (await endpoints.deleteOne(ownedBy(endpoint))).deletedCount === 1;

/** Turns an endpoint on or off, once per form. Throws `endpoint_not_found`. */
export async function turnEndpoint(state: 'on' | 'off', endpoint: OwnedEndpoint, form: string): Promise<void> {
  const change =
    state === 'on' ? { $unset: { disabledAt: '' as const } } : { $currentDate: { disabledAt: true as const } };
  await changeOnce(endpoint, form, {}, change);
}

/** The signing secret of an endpoint, for its owner. Throws `endpoint_not_found`, and if it does not decrypt. */
export async function viewEndpointSecret({ secrets }: Secrets, endpoint: OwnedEndpoint): Promise<string> {
  const found = await endpoints.findOne(ownedBy(endpoint), timeLimit());
  if (!found) throw new AppError('endpoint_not_found');
  return decrypt(found.signingSecret, secrets.keys, found._id);
}

/**
 * Gives an endpoint a new signing secret, once per form, and resolves with the secret that is in use then. The caller
 * waits for `untilSettingsApply`. Throws `key_changed` if the secret with the version `seen` (`secretVersion.roll`) is no longer in use, and
 * `endpoint_not_found`.
 */
export async function rollEndpointSecret(
  { secrets }: Secrets,
  endpoint: OwnedEndpoint,
  { id, seen }: { id: string; seen: string },
): Promise<string> {
  const sealed = encrypt(newSigningSecret(), secrets.keys, endpoint.endpointId);
  const isCurrent = { rolledAt: seen === '0' ? { $exists: false } : new Date(Number(seen)) };
  const change = { $set: { signingSecret: sealed }, $currentDate: { rolledAt: true as const } };
  await changeOnce(endpoint, id, isCurrent, change);
  return viewEndpointSecret({ secrets }, endpoint);
}

/** Changes an endpoint that meets a condition, unless the form has changed it before. */
async function changeOnce(
  endpoint: OwnedEndpoint,
  form: string,
  condition: mongoose.mongo.Filter<Endpoint>,
  change: mongoose.mongo.UpdateFilter<Endpoint>,
): Promise<void> {
  const applied: AppliedForm = { id: form, at: await mongoNow(), isChange: true };
  const { matchedCount } = await endpoints.updateOne(
    { ...ownedBy(endpoint), ...condition, 'forms.id': { $ne: form } },
    { ...change, $push: { forms: { $each: [applied], $slice: -keptForms } } },
  );
  if (matchedCount === 1) return;
  const { forms = [] } = await findEndpoint(endpoint);
  if (forms.some(({ id }) => id === form)) return;
  throw keyChanged('roll');
}
