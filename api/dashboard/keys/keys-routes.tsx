import type { AuditAction } from '../../../shared/accounts/audit.ts';
import { audit } from '../../../shared/accounts/audit.ts';
import type { Context } from '../../../shared/context.ts';
import { AppError } from '../../../shared/errors.ts';
import { newKeyId } from '../../../shared/ids.ts';
import { untilSettingsApply } from '../../../shared/keys/delivery-settings.ts';
import {
  createKeyWithin,
  findKey,
  isKeyName,
  type KeyFacts,
  listKeys,
  renameKey,
  revokeKey,
  rollSigningSecret,
  rotateKey,
  setWebhookUrl,
  viewSigningSecret,
} from '../../../shared/keys/manage-keys.ts';
import { checkGivenTarget } from '../../../shared/targets/given-target.ts';
import { ridesByKey } from '../../../shared/usage/usage.ts';
import { deliveryHealth } from '../../../shared/webhooks/delivery-health.ts';
import { sendTestEvent } from '../../../shared/webhooks/test-event.ts';
import { clientAddress } from '../../http/client-address.ts';
import type { Faults } from '../forms.tsx';
import { type Answer, type DashboardRoute, type Sending, signedInRoutes, type Visit } from '../visit.ts';
import { askPage, type Question } from './ask-page.tsx';
import { type DoneName, type KeyPageState, keyPage } from './key-page.tsx';
import { keysPage } from './keys-page.tsx';
import { fullPage, isMode, newKeyPage } from './new-key-page.tsx';
import { deliveriesPath, keyPath } from './paths.ts';
import { keyShownPage, shownBeforePage } from './shown-key-page.tsx';

/** The account's keys: the list, a new one, and one key's page with all that can be done to it. */
export function keysRoutes(service: Context): DashboardRoute[] {
  const { config } = service;
  const { page, action } = signedInRoutes(service);
  const ownerOf = ({ account }: Visit) => ({ accountId: account._id });
  const ownKey = (visit: Visit): Promise<KeyFacts> => findKey(visit.param('keyId'), ownerOf(visit));
  const noted = ({ account, ctx }: Visit, what: AuditAction, keyId: string) =>
    audit(
      { accountId: account._id, action: what, keyId, from: clientAddress(ctx, config.trustedProxyHops) },
      service.now(),
    );

  async function showKey(visit: Visit, key: KeyFacts, state: KeyPageState = {}, status = 200): Promise<Answer> {
    const owner = ownerOf(visit);
    const [rides, health] = await Promise.all([
      ridesByKey(owner.accountId, service.now()),
      deliveryHealth([key._id], owner),
    ]);
    const shown = { account: visit.account, key, now: service.now(), ridesCreated: rides.get(key._id) ?? 0 };
    return { html: keyPage({ ...shown, failing: health.get(key._id), ...state }), status };
  }

  /** The address of an action is also a page: it leads to the key's page, or asks before. */
  const keyRoutes = (
    name: string,
    act: (sending: Sending, key: KeyFacts) => Promise<Answer>,
    question?: Question,
  ): DashboardRoute[] => {
    const withActive =
      <V extends Visit>(answer: (visit: V, key: KeyFacts) => Answer | Promise<Answer>) =>
      async (visit: V): Promise<Answer> => {
        const key = await ownKey(visit);
        return key.revokedAt ? { see: keyPath(key._id) } : answer(visit, key);
      };
    return [
      page(
        `/keys/:keyId/${name}`,
        withActive(({ account }, key) => (question ? askPage({ account, key, question }) : { see: keyPath(key._id) })),
      ),
      action(`/keys/:keyId/${name}`, withActive(act)),
    ];
  };
  const done = (keyId: string, what: DoneName): Answer => ({ see: `${keyPath(keyId)}?done=${what}` });

  return [
    page('/keys', async (visit) => {
      const owner = ownerOf(visit);
      const [found, rides] = await Promise.all([listKeys(owner), ridesByKey(owner.accountId, service.now())]);
      const active = found.filter(({ revokedAt }) => !revokedAt).map(({ _id }) => _id);
      const health = await deliveryHealth(active, owner);
      return keysPage({ account: visit.account, keys: found.reverse(), rides, health, now: service.now() });
    }),

    page('/keys/new', async (visit) => {
      const active = (await listKeys(ownerOf(visit))).filter(({ revokedAt }) => !revokedAt).length;
      const { account } = visit;
      if (active >= config.maxKeysPerAccount) return fullPage({ account, most: config.maxKeysPerAccount });
      return newKeyPage({ account, typed: { name: '', mode: visit.query('mode') } });
    }),

    action('/keys', async (sending) => {
      const { account, form, earlier } = sending;
      const typed = { name: form.text('name'), mode: form.text('mode') };
      const { name, mode } = typed;
      if (!isKeyName(name) || !isMode(mode)) {
        const faults: Faults = {
          ...(!isKeyName(name) && { name: nameFault(name) }),
          ...(!isMode(mode) && { mode: 'Choose a mode, test or live' }),
        };
        return { html: newKeyPage({ account, typed, faults }), status: 422 };
      }
      // A repeat of the form tries the same id again: whichever sending is first makes the key, the others find it.
      const freshId = newKeyId();
      const keyId = (await earlier(freshId)) ?? freshId;
      const most = config.maxKeysPerAccount;
      const made = await createKeyWithin(config, { accountId: account._id, name, mode, keyId, most });
      if (made === 'full') return { html: fullPage({ account, most, hasErrors: true }), status: 422 };
      if (made === 'exists') {
        return shownBeforePage({ account, key: await findKey(keyId, ownerOf(sending)), shownAt: 'creation' });
      }
      await noted(sending, 'key_created', keyId);
      return keyShownPage({ account, key: made, shownAt: 'creation' });
    }),

    page('/keys/:keyId', async (visit) => showKey(visit, await ownKey(visit), { done: visit.query('done') })),

    ...keyRoutes('name', async (sending, key) => {
      const name = sending.form.text('name');
      if (!isKeyName(name)) return showKey(sending, key, { faults: { name: nameFault(name) }, typed: { name } }, 422);
      if (await renameKey(key._id, name, ownerOf(sending))) await noted(sending, 'key_renamed', key._id);
      return done(key._id, 'renamed');
    }),

    ...keyRoutes('webhook-url', async (sending, key) => {
      const typed = sending.form.text('webhookUrl');
      const webhookUrl = typed.trim() || null;
      const refusal = webhookUrl && checkGivenTarget(config, webhookUrl);
      if (refusal) {
        const faults = { webhookUrl: `The default webhook URL ${refusal}` };
        return showKey(sending, key, { faults, typed: { webhookUrl: typed } }, 422);
      }
      if (await setWebhookUrl(config, key._id, webhookUrl, ownerOf(sending))) {
        await noted(sending, 'webhook_url_set', key._id);
      }
      await untilSettingsApply(key._id);
      return done(key._id, webhookUrl ? 'url-saved' : 'url-removed');
    }),

    ...keyRoutes('test-event', async (sending, key) => {
      if (!key.webhookUrl) {
        const faults = { webhookUrl: 'Save a default webhook URL first: the test event is sent there' };
        return showKey(sending, key, { faults }, 422);
      }
      if (await sending.earlier(key._id)) return { see: deliveriesPath(key._id) };
      try {
        const asked = { ...ownerOf(sending), requestId: sending.ctx.state.requestId };
        return { see: `/dashboard/deliveries/${await sendTestEvent(service, key._id, asked)}` };
      } catch (error) {
        if (!(error instanceof AppError) || error.status !== 429) throw error;
        sending.ctx.set(error.headers);
        return showKey(sending, key, { done: 'too-many-test-events' }, 429);
      }
    }),

    ...keyRoutes('signing-secret', async (sending, key) => {
      const signingSecret = await viewSigningSecret(config, key._id, ownerOf(sending));
      await noted(sending, 'signing_secret_viewed', key._id);
      return showKey(sending, key, { signingSecret });
    }),

    ...keyRoutes(
      'roll-secret',
      async (sending, key) => {
        if (await sending.earlier(key._id)) {
          await untilSettingsApply(key._id);
          return done(key._id, 'rolled-before');
        }
        const { signingSecret } = await rollSigningSecret(config, key._id, ownerOf(sending));
        await noted(sending, 'signing_secret_rolled', key._id);
        await untilSettingsApply(key._id);
        return showKey(sending, key, { signingSecret, rolled: true });
      },
      'roll',
    ),

    ...keyRoutes(
      'rotate',
      async (sending, key) => {
        const { account } = sending;
        if (await sending.earlier(key._id)) return shownBeforePage({ account, key, shownAt: 'rotation' });
        const rotated = await rotateKey(key._id, ownerOf(sending));
        await noted(sending, 'key_rotated', key._id);
        return keyShownPage({ account, key: { ...rotated, name: key.name, mode: key.mode }, shownAt: 'rotation' });
      },
      'rotate',
    ),

    ...keyRoutes(
      'revoke',
      async (sending, key) => {
        await revokeKey(key._id, ownerOf(sending));
        await noted(sending, 'key_revoked', key._id);
        return { see: keyPath(key._id) };
      },
      'revoke',
    ),
  ];
}

const nameFault = (name: string): string =>
  name.trim()
    ? 'The name is too long: use at most 100 characters'
    : 'Enter a name, for example the system that uses it';
