import { type Account, operatorEmail } from '../../../shared/accounts/account.ts';
import { type AuditAction, audit } from '../../../shared/accounts/audit.ts';
import { type Limit, take } from '../../../shared/accounts/limit.ts';
import { isCompleted } from '../../../shared/accounts/sent-form.ts';
import type { Context } from '../../../shared/base/context.ts';
import { AppError } from '../../../shared/base/errors.ts';
import { derivedAuditId, derivedMailId } from '../../../shared/base/ids.ts';
import { untilSettingsApply } from '../../../shared/keys/delivery-settings.ts';
import { countRevokedKeys, listActiveKeys, listRevokedKeys } from '../../../shared/keys/list-keys.ts';
import {
  createKeyByForm,
  findKey,
  isKeyName,
  type KeyFacts,
  renameKey,
  revokeKey,
  setWebhookUrl,
  viewSigningSecret,
} from '../../../shared/keys/manage-keys.ts';
import { type ReplacingForm, rollByForm, rotateByForm } from '../../../shared/keys/replace-secret.ts';
import { type KeyNews, keyMail } from '../../../shared/mail/key-mails.ts';
import { canSendMail, sendMail } from '../../../shared/mail/mail.ts';
import { checkGivenTarget } from '../../../shared/targets/given-target.ts';
import { ridesByKey } from '../../../shared/usage/usage.ts';
import { deliveryHealth } from '../../../shared/webhooks/delivery-health.ts';
import { sendTestEvent } from '../../../shared/webhooks/test-event.ts';
import { clientAddress } from '../../http/forwarded.ts';
import type { Faults } from '../forms.tsx';
import { type Answer, askForCode, type DashboardRoute, type Sending, signedInRoutes, type Visit } from '../visit.ts';
import { askPage, type Question, seenField } from './ask-page.tsx';
import { type DoneName, type KeyPageState, keyPage } from './key-page.tsx';
import { keysPage } from './keys-page.tsx';
import { fullPage, isMode, newKeyPage, newKeysPage } from './new-key-page.tsx';
import { keyPath, keysPath } from './paths.ts';
import { keyShownPage, notReplacedPage, shownBeforePage } from './shown-key-page.tsx';

const revokedAPage = 50;

/** Counts keys that were revoked since, too. The command line is exempt. */
const newKeys = ({ newKeysPerDay: most }: Context['config']): Limit => ({
  name: 'new-keys',
  most,
  perMs: 24 * 3_600_000,
});

/** The account's keys: the list, a new one, and one key's page with all that can be done to it. */
export function keysRoutes(service: Context): DashboardRoute[] {
  const { config } = service;
  const { page, action } = signedInRoutes(service);
  const ownerOf = ({ account }: Visit) => ({ accountId: account._id });
  const ownKey = (visit: Visit): Promise<KeyFacts> => findKey(visit.param('keyId'), ownerOf(visit));
  const addressOf = ({ ctx }: Visit) => clientAddress(ctx, config.trustedProxyHops);
  const noted = (sending: Sending, what: AuditAction, keyId: string, form = sending.sent.id) =>
    audit(
      {
        _id: derivedAuditId(what, form),
        accountId: sending.account._id,
        action: what,
        keyId,
        from: addressOf(sending),
      },
      service.now(),
    );

  /** Notes a new key or a rotation and reports it by mail, each once for a form. */
  async function reported(sending: Sending, what: KeyNews['what'], keyId: string, at: Date): Promise<KeyFacts> {
    const key = await findKey(keyId, ownerOf(sending));
    if (!isCompleted(at, service.now())) return key;
    await noted(sending, `key_${what}`, keyId);
    const { email } = sending.account;
    if (email === operatorEmail || !canSendMail(config)) return key;
    const mail = keyMail(config, email, { what, keyId, name: key.name, mode: key.mode, at, from: addressOf(sending) });
    await sendMail(service, mail, derivedMailId(what, sending.sent.id));
    return key;
  }

  async function showKey(visit: Visit, key: KeyFacts, state: KeyPageState = {}, status = 200): Promise<Answer> {
    const owner = ownerOf(visit);
    const [rides, health] = await Promise.all([
      ridesByKey(owner.accountId, [key._id], service.now()),
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
    const path = `/keys/:keyId/${name}`;
    return [
      page(path, async (visit) => {
        const key = await ownKey(visit);
        const asks = question && !key.revokedAt;
        return asks ? askPage({ account: visit.account, key, question }) : { see: keyPath(key._id) };
      }),
      action(path, async (sending) => {
        const key = await ownKey(sending);
        const isRepeat = key.forms?.some(({ id }) => id === sending.sent.id);
        if (key.revokedAt && !isRepeat) return { see: keyPath(key._id) };
        const back = backFromCode[name];
        const unconfirmed = back && askForCode(sending, keyPath(key._id) + back, service.now());
        return unconfirmed || act(sending, key);
      }),
    ];
  };
  const done = (keyId: string, what: DoneName): Answer => ({ see: `${keyPath(keyId)}?done=${what}` });

  function tooManyNewKeys({ account, ctx }: Visit, freesMs: number): Answer {
    ctx.set('Retry-After', String(Math.ceil(freesMs / 1_000)));
    const now = service.now();
    const html = newKeysPage({ account, most: config.newKeysPerDay, now, freesAt: new Date(now + freesMs) });
    return { html, status: 429 };
  }

  return [
    page('/keys', async (visit) => {
      const owner = ownerOf(visit);
      const after = visit.query('after') || undefined;
      const [active, found, revokedCount] = await Promise.all([
        listActiveKeys(owner),
        listRevokedKeys(owner, revokedAPage + 1, after),
        countRevokedKeys(owner),
      ]);
      const revoked = found.slice(0, revokedAPage);
      const idsOf = (keys: readonly KeyFacts[]) => keys.map(({ _id }) => _id);
      const [rides, health] = await Promise.all([
        ridesByKey(owner.accountId, idsOf([...active, ...revoked]), service.now()),
        deliveryHealth(idsOf(active), owner),
      ]);
      const list = { active: active.reverse(), revoked, revokedCount, after, hasOlder: found.length > revokedAPage };
      return keysPage({ account: visit.account, ...list, rides, health, now: service.now() });
    }),

    page('/keys/new', async (visit) => {
      const active = (await listActiveKeys(ownerOf(visit))).length;
      const { account } = visit;
      if (active >= config.maxKeysPerAccount) return fullPage({ account, most: config.maxKeysPerAccount });
      return newKeyPage({ account, typed: { name: visit.query('name'), mode: visit.query('mode') } });
    }),

    action('/keys', async (sending) => {
      const { account, form, sent } = sending;
      const typed = { name: form.text('name'), mode: form.text('mode') };
      const { name, mode } = typed;
      if (!isKeyName(name) || !isMode(mode)) {
        const faults: Faults = {
          ...(!isKeyName(name) && { name: nameFault(name) }),
          ...(!isMode(mode) && { mode: 'Choose a mode, test or live' }),
        };
        return { html: newKeyPage({ account, typed, faults }), status: 422 };
      }
      const back = `${keysPath}/new?mode=live&name=${encodeURIComponent(name)}`;
      const unconfirmed = mode === 'live' && askForCode(sending, back, service.now());
      if (unconfirmed) return unconfirmed;
      const most = config.maxKeysPerAccount;
      const today = await take(newKeys(config), account._id, service.now(), sent.id);
      if (today.isFull) return tooManyNewKeys(sending, today.freesMs);
      const made = await createKeyByForm(config, { accountId: account._id, name, mode, form: sent, most });
      if (made === 'full') {
        await today.giveBack();
        return { html: fullPage({ account, most, hasErrors: true }), status: 422 };
      }
      const key = await reported(sending, 'created', made.keyId, made.at);
      return made.made
        ? keyShownPage({ account, key: made.made, shownAt: 'creation' })
        : shownBeforePage({ account, key, shownAt: 'creation' });
    }),

    page('/keys/:keyId', async (visit) => showKey(visit, await ownKey(visit), { done: visit.query('done') })),

    ...keyRoutes('name', async (sending, key) => {
      const name = sending.form.text('name');
      if (!isKeyName(name)) return showKey(sending, key, { faults: { name: nameFault(name) }, typed: { name } }, 422);
      if (await renameKey(key._id, name, ownerOf(sending), sending.sent.id))
        await noted(sending, 'key_renamed', key._id);
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
      if (await setWebhookUrl(config, key._id, webhookUrl, ownerOf(sending), sending.sent.id)) {
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
      try {
        const asked = { ...ownerOf(sending), requestId: sending.ctx.state.requestId, form: sending.sent.id };
        return { see: `/dashboard/deliveries/${await sendTestEvent(service, key._id, asked)}` };
      } catch (error) {
        if (!(error instanceof AppError) || error.status !== 429) throw error;
        sending.ctx.set(error.headers);
        return showKey(sending, key, { done: 'too-many-test-events' }, 429);
      }
    }),

    ...keyRoutes('signing-secret', async (sending, key) => {
      const signingSecret = await viewSigningSecret(config, key._id, ownerOf(sending));
      // The same form in another session is another look.
      await noted(sending, 'signing_secret_viewed', key._id, `${sending.sent.id} ${sending.sent.session}`);
      return showKey(sending, key, { signingSecret });
    }),

    ...keyRoutes(
      'roll-secret',
      async (sending, key) => {
        const form = replacing(sending);
        try {
          const { signingSecret } = await rollByForm(config, key._id, ownerOf(sending), form);
          await noted(sending, 'signing_secret_rolled', key._id);
          await untilSettingsApply(key._id);
          return signingSecret
            ? showKey(sending, key, { signingSecret, rolled: true })
            : done(key._id, 'rolled-before');
        } catch (error) {
          return replacedMeanwhile(sending.account, key, error);
        }
      },
      'roll',
    ),

    ...keyRoutes(
      'rotate',
      async (sending, key) => {
        const { account } = sending;
        const form = replacing(sending);
        try {
          const rotated = await rotateByForm(config, key._id, ownerOf(sending), form);
          const now = await reported(sending, 'rotated', key._id, rotated.at);
          return rotated.key
            ? keyShownPage({
                account,
                key: { ...rotated, key: rotated.key, name: now.name, mode: now.mode },
                shownAt: 'rotation',
              })
            : shownBeforePage({ account, key: now, shownAt: 'rotation' });
        } catch (error) {
          return replacedMeanwhile(account, key, error);
        }
      },
      'rotate',
    ),

    ...keyRoutes(
      'revoke',
      async (sending, key) => {
        await revokeKey(key._id, ownerOf(sending), sending.sent.id);
        await noted(sending, 'key_revoked', key._id);
        return { see: keyPath(key._id) };
      },
      'revoke',
    ),
  ];
}

/** The actions that need a recent code, and the place on the key's page to return to with one. */
const backFromCode: Record<string, string> = {
  'signing-secret': '#secret',
  'roll-secret': '/roll-secret',
  rotate: '/rotate',
};

const replacing = ({ sent, form, arrivedAt }: Sending): ReplacingForm => ({
  ...sent,
  seen: form.text(seenField),
  arrivedAt,
});

/** The answer to a form whose secret somebody else has replaced first. */
function replacedMeanwhile(account: Account, key: KeyFacts, error: unknown): Answer {
  if (!(error instanceof AppError) || error.code !== 'key_changed') throw error;
  return { html: notReplacedPage({ account, key, message: error.message }), status: error.status };
}

const nameFault = (name: string): string =>
  name.trim()
    ? 'The name is too long: use at most 100 characters'
    : 'Enter a name, for example the system that uses it';
