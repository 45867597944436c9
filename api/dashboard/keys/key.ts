import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import type { Context } from '../../../shared/base/context.ts';
import { AppError } from '../../../shared/base/errors.ts';
import { untilSettingsApply } from '../../../shared/keys/delivery-settings.ts';
import {
  findKey,
  isKeyName,
  type KeyFacts,
  renameKey,
  revokeKey,
  setWebhookUrl,
  viewSigningSecret,
} from '../../../shared/keys/manage-keys.ts';
import { type ReplacingForm, rollByForm, rotateByForm } from '../../../shared/keys/replace-secret.ts';
import { checkGivenTarget } from '../../../shared/targets/given-target.ts';
import { ridesByKey } from '../../../shared/usage/usage.ts';
import { deliveryHealth } from '../../../shared/webhooks/delivery-health.ts';
import { sendTestEvent } from '../../../shared/webhooks/test-event.ts';
import { nameFault } from '../../../web/kit/key-parts.tsx';
import { attemptPath, keyPath } from '../../../web/kit/paths.ts';
import {
  type Answer,
  askForCode,
  type DashboardRoute,
  type FormRequest,
  type PageRequest,
  requesterOf,
  signedInRoutes,
} from '../page-routes.ts';
import { confirmChangePage, type Question, secretVersionField } from './confirm-change.tsx';
import { keyShownPage, notReplacedPage, shownBeforePage } from './key-created-page.tsx';
import { type DoneName, type KeyPageState, keyPage } from './key-page.tsx';
import { keyRecords } from './key-records.ts';

/** The page of one key, and its actions. */
export function keyRoutes(service: Context): DashboardRoute[] {
  const { config } = service;
  const { page, action } = signedInRoutes(service);
  const { record, recordNewKey } = keyRecords(service);
  const ownKey = (request: PageRequest): Promise<KeyFacts> => findKey(request.param('keyId'), request.owner);

  async function showKey(request: PageRequest, key: KeyFacts, state: KeyPageState = {}, status = 200): Promise<Answer> {
    const { account, owner } = request;
    const [rides, health] = await Promise.all([
      ridesByKey(account._id, [key._id], service.now()),
      deliveryHealth([key._id], owner),
    ]);
    const { egressAddresses } = config;
    const shown = { account, key, egressAddresses, ridesCreated: rides.get(key._id) ?? 0 };
    return { html: keyPage({ ...shown, failing: health.get(key._id), ...state }), status };
  }

  /** The two routes of an action: POST performs it; GET asks for confirmation or redirects to the key's page. */
  const actionRoutes = (
    name: string,
    act: (request: FormRequest, key: KeyFacts) => Promise<Answer>,
    question?: Question,
  ): DashboardRoute[] => {
    const path = `/keys/:keyId/${name}`;
    return [
      page(path, async (request) => {
        const key = await ownKey(request);
        const asks = question && !key.revokedAt;
        return asks ? confirmChangePage({ account: request.account, key, question }) : { redirectTo: keyPath(key._id) };
      }),
      action(path, async (request) => {
        const key = await ownKey(request);
        const isRepeat = key.forms?.some(({ id }) => id === request.sent.id);
        if (key.revokedAt && !isRepeat) return { redirectTo: keyPath(key._id) };
        const back = backFromCode[name];
        const unconfirmed = back && askForCode(request, keyPath(key._id) + back, service.now());
        return unconfirmed || act(request, key);
      }),
    ];
  };
  const done = (keyId: string, what: DoneName): Answer => ({ redirectTo: `${keyPath(keyId)}?done=${what}` });

  return [
    page('/keys/:keyId', async (request) => showKey(request, await ownKey(request), { done: request.query('done') })),

    ...actionRoutes('name', async (request, key) => {
      const name = request.form.text('name');
      if (!isKeyName(name)) return showKey(request, key, { faults: { name: nameFault(name) }, typed: { name } }, 422);
      if (await renameKey(key._id, name, request.owner, request.sent.id)) await record(request, 'key_renamed', key._id);
      return done(key._id, 'renamed');
    }),

    ...actionRoutes('webhook-url', async (request, key) => {
      const typed = request.form.text('webhookUrl');
      const webhookUrl = typed.trim() || null;
      const refusal = webhookUrl && checkGivenTarget(config, webhookUrl);
      if (refusal) {
        const faults = { webhookUrl: `The default webhook URL ${refusal}` };
        return showKey(request, key, { faults, typed: { webhookUrl: typed } }, 422);
      }
      if (await setWebhookUrl(config, key._id, webhookUrl, request.owner, request.sent.id)) {
        await record(request, 'webhook_url_set', key._id);
      }
      await untilSettingsApply(key._id);
      return done(key._id, webhookUrl ? 'url-saved' : 'url-removed');
    }),

    ...actionRoutes('test-event', async (request, key) => {
      if (!key.webhookUrl) {
        const faults = { webhookUrl: 'Save a default webhook URL first: the test event is sent there' };
        return showKey(request, key, { faults }, 422);
      }
      try {
        return { redirectTo: attemptPath(await sendTestEvent(service, key._id, requesterOf(request))) };
      } catch (error) {
        if (!(error instanceof AppError) || error.status !== 429) throw error;
        request.ctx.set(error.headers);
        return showKey(request, key, { done: 'too-many-test-events' }, 429);
      }
    }),

    ...actionRoutes('signing-secret', async (request, key) => {
      const signingSecret = await viewSigningSecret(config, key._id, request.owner);
      // The record's id contains the session: viewing the secret with the same form in another session is a second
      // view.
      await record(request, 'signing_secret_viewed', key._id, `${request.sent.id} ${request.sent.session}`);
      return showKey(request, key, { signingSecret });
    }),

    ...actionRoutes(
      'roll-secret',
      async (request, key) => {
        const form = replacementIn(request);
        try {
          const { signingSecret } = await rollByForm(config, key._id, request.owner, form);
          await record(request, 'signing_secret_rolled', key._id);
          await untilSettingsApply(key._id);
          return signingSecret
            ? showKey(request, key, { signingSecret, rolled: true })
            : done(key._id, 'rolled-before');
        } catch (error) {
          return alreadyReplaced(request.account, key, error);
        }
      },
      'roll',
    ),

    ...actionRoutes(
      'rotate',
      async (request, key) => {
        const { account } = request;
        const form = replacementIn(request);
        try {
          const rotated = await rotateByForm(config, key._id, request.owner, form);
          const now = await recordNewKey(request, 'rotated', key._id, rotated.at);
          return rotated.key
            ? keyShownPage({
                account,
                key: { ...rotated, key: rotated.key, name: now.name, mode: now.mode },
                shownAt: 'rotation',
                publicBaseUrl: config.publicBaseUrl,
              })
            : shownBeforePage({ account, key: now, shownAt: 'rotation' });
        } catch (error) {
          return alreadyReplaced(account, key, error);
        }
      },
      'rotate',
    ),

    ...actionRoutes(
      'revoke',
      async (request, key) => {
        await revokeKey(key._id, request.owner, request.sent.id);
        await record(request, 'key_revoked', key._id);
        return { redirectTo: keyPath(key._id) };
      },
      'revoke',
    ),
  ];
}

/** The actions that need a recent code, and the path or fragment below the key's page to return to. */
const backFromCode: Record<string, string> = {
  'signing-secret': '#secret',
  'roll-secret': '/roll-secret',
  rotate: '/rotate',
};

const replacementIn = ({ sent, form, arrivedAt }: FormRequest): ReplacingForm => ({
  ...sent,
  seen: form.text(secretVersionField),
  arrivedAt,
});

/** The answer to a form whose secret another person has already replaced. */
function alreadyReplaced(account: CurrentAccount, key: KeyFacts, error: unknown): Answer {
  if (!(error instanceof AppError) || error.code !== 'key_changed') throw error;
  return { html: notReplacedPage({ account, key, message: error.message }), status: error.status };
}
