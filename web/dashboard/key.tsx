import { AppError } from '../../shared/base/errors.ts';
import { untilSettingsApply } from '../../shared/keys/delivery-settings.ts';
import { endpointsOf } from '../../shared/keys/endpoints.ts';
import {
  findKey,
  type KeyFacts,
  renameKey,
  revokeKey,
  setTexting,
  setWebhookUrl,
  viewSigningSecret,
} from '../../shared/keys/manage-keys.ts';
import { rollByForm, rotateByForm, secretVersion } from '../../shared/keys/replace-secret.ts';
import { canText } from '../../shared/messages/stored-messages.ts';
import { checkGivenTarget } from '../../shared/targets/given-target.ts';
import { ridesByKey } from '../../shared/usage/usage-summary.ts';
import { deliveryHealth } from '../../shared/webhooks/delivery-health.ts';
import { sendTestEvent } from '../../shared/webhooks/test-event.ts';
import type { SentRequest } from '../kit/answer.ts';
import { choice, fault, text } from '../kit/declared-fields.tsx';
import { ModePill } from '../kit/facts.tsx';
import { type Confirmation, form } from '../kit/form.ts';
import { keyNameIn, lastFour } from '../kit/key-parts.tsx';
import { page } from '../kit/page.tsx';
import { attemptPath } from '../kit/paths.ts';
import { builders } from '../kit/roles.ts';
import { addForm, deleteForm } from './further-endpoints.tsx';
import { record, recordNewKey } from './key-records.ts';
import { keyShown, notReplaced, shownBefore } from './key-shown.tsx';
import { keyView } from './key-view.tsx';

/** The page of one key, and its actions. */
export const key = page('/keys/:keyId', {
  section: 'keys',
  roles: builders,
  find: ({ param, owner }) => findKey(param('keyId'), owner),
  isClosed: (key, { sent }) => key.revokedAt && !key.forms?.some(({ id }) => id === sent.id),
  async read({ account, owner, service }, key) {
    const [rides, health, endpoints] = await Promise.all([
      ridesByKey(account._id, [key._id], service.now()),
      deliveryHealth([key._id], owner),
      endpointsOf(key._id),
    ]);
    const { egressAddresses } = service.config;
    const texts = canText(service.config);
    return {
      account,
      key,
      egressAddresses,
      texts,
      ridesCreated: rides.get(key._id) ?? 0,
      failing: health.get(key._id),
      endpoints,
    };
  },
  view: keyView,
  forms: {
    name: form({
      fields: { name: text('Name', keyNameIn) },
      async act(request, { name }, { _id }: KeyFacts) {
        if (await renameKey(_id, name, request.owner, request.sent.id)) await record(request, 'key_renamed', _id);
        return undefined;
      },
      done: { renamed: 'Renamed.' },
    }),
    'webhook-url': form({
      fields: {
        webhookUrl: text(
          'Default webhook URL',
          (typed, { config }) => {
            const refusal = typed.trim() && checkGivenTarget(config, typed.trim());
            return refusal ? fault(`The default webhook URL ${refusal}`) : typed.trim() || null;
          },
          {
            hint: 'Events of rides without their own webhookUrl are sent here. Leave it empty to send none.',
            ...{ type: 'url', inputmode: 'url', placeholder: 'https://', mono: true },
          },
        ),
      },
      async act(request, { webhookUrl }, { _id }: KeyFacts) {
        const { owner, sent, service } = request;
        if (await setWebhookUrl(service.config, _id, webhookUrl, owner, sent.id)) {
          await record(request, 'webhook_url_set', _id);
        }
        await untilSettingsApply(_id);
        return { done: webhookUrl ? 'url-saved' : 'url-removed' };
      },
      done: {
        'url-saved': 'Saved. The next event is sent to this URL.',
        'url-removed': 'Webhook URL removed. Only rides with their own webhookUrl send events now.',
      },
    }),
    endpoints: addForm,
    'delete-endpoint': deleteForm,
    texting: form({
      anchor: '#texting',
      fields: {
        texting: choice(
          'Text the passenger',
          [
            ['no', 'No'],
            ['yes', 'Yes'],
          ],
          'Choose whether passengers are texted',
          {
            hint: 'For rides that do not say it in notify, if passenger.phone is a number in E.164 form such as +12025550143.',
          },
        ),
      },
      async act(request, { texting }, { _id }: KeyFacts) {
        const { owner, sent } = request;
        if (await setTexting(_id, texting === 'yes', owner, sent.id)) await record(request, 'texting_set', _id);
        return { done: texting === 'yes' ? 'texting-on' : 'texting-off' };
      },
      done: {
        'texting-on': 'Saved. Passengers of new rides get text messages.',
        'texting-off': 'Saved. Only rides that ask for it in notify send text messages.',
      },
    }),
    'test-event': form({
      async act({ owner, requestId, sent, service }, _, { _id, webhookUrl }: KeyFacts) {
        if (!webhookUrl) {
          return {
            again: 422,
            faults: { webhookUrl: 'Save a default webhook URL first: the test event is sent there' },
          };
        }
        try {
          return { redirectTo: attemptPath(await sendTestEvent(service, _id, { ...owner, requestId, form: sent.id })) };
        } catch (error) {
          if (!(error instanceof AppError) || error.status !== 429) throw error;
          const refusal = 'At most 10 test events a minute can be sent. Wait a minute, then send the next one.';
          return { again: 429, refusal, headers: error.headers };
        }
      },
    }),
    'signing-secret': form({
      anchor: '#secret',
      recentCode: () => [],
      async act(request, _, { _id }: KeyFacts) {
        const signingSecret = await viewSigningSecret(request.service.config, _id, request.owner);
        // The record's id contains the session: viewing the secret with the same form in another session is a second view.
        await record(request, 'signing_secret_viewed', _id, `${request.sent.id} ${request.sent.session}`);
        return { again: 200, show: { signingSecret } };
      },
    }),
    'roll-secret': form({
      anchor: '#secret',
      recentCode: () => [],
      confirm: (_, key: KeyFacts) =>
        confirmation(key, {
          title: 'Roll the signing secret?',
          effects: [
            'From now on, events are signed with a new secret.',
            'A receiver that checks signatures refuses events until it has the new one.',
            'The key itself continues to work.',
          ],
          button: 'Roll signing secret',
          keep: 'Keep the secret',
          hidden: { seen: secretVersion.roll(key) },
        }),
      act: (request, _, key) =>
        orNotReplaced(key, async () => {
          const { config } = request.service;
          const { signingSecret } = await rollByForm(config, key._id, request.owner, replacementIn(request));
          await record(request, 'signing_secret_rolled', key._id);
          await untilSettingsApply(key._id);
          return signingSecret ? { again: 200, show: { signingSecret, rolled: true } } : { done: 'rolled-before' };
        }),
      done: { 'rolled-before': 'This form was sent before. “Show signing secret” shows the current secret.' },
    }),
    rotate: form({
      recentCode: () => [],
      confirm: (_, key: KeyFacts) =>
        confirmation(key, {
          title: 'Rotate this key?',
          effects: [
            'You get a new key, shown once.',
            'The current key stops working at once: requests with it are answered 401 until your system uses the new one.',
            'Its rides, webhook URL and signing secret stay the same.',
          ],
          button: 'Rotate',
          keep: 'Keep the key',
          hidden: { seen: secretVersion.rotate(key) },
        }),
      act: (request, _, key) =>
        orNotReplaced(key, async () => {
          const { config } = request.service;
          const rotated = await rotateByForm(config, key._id, request.owner, replacementIn(request));
          const { name, mode, ...now } = await recordNewKey(request, 'rotated', key._id, rotated.at);
          const shown = rotated.key && { keyId: key._id, key: rotated.key, name, mode };
          const { publicBaseUrl } = config;
          return {
            document: shown
              ? keyShown(shown, 'rotation', publicBaseUrl)
              : shownBefore({ ...now, name, mode }, 'rotation'),
          };
        }),
    }),
    revoke: form({
      confirm: (_, key: KeyFacts) =>
        confirmation(key, {
          title: 'Revoke this key?',
          effects: [
            'Requests with it are answered 401 from now on. This cannot be undone.',
            'Active rides continue, and their events are still sent.',
          ],
          button: 'Revoke',
          keep: 'Keep the key',
        }),
      async act(request, _, { _id }) {
        await revokeKey(_id, request.owner, request.sent.id);
        await record(request, 'key_revoked', _id);
        return undefined;
      },
    }),
  },
});

const confirmation = (key: KeyFacts, more: Omit<Confirmation, 'about' | 'test'>): Confirmation | null =>
  key.revokedAt
    ? null
    : {
        about: (
          <>
            {key.name} <ModePill mode={key.mode} /> <code>{lastFour(key)}</code>
          </>
        ),
        test: key.mode === 'test',
        ...more,
      };

/** A form names the version of the secret that it replaces, and is refused if that has been replaced since. */
const replacementIn = ({ sent, text, arrivedAt }: SentRequest) => ({ ...sent, seen: text('seen'), arrivedAt });

/** The result of a replacement; or the page which says that another person has already replaced the secret. */
const orNotReplaced = <Result,>(key: KeyFacts, replace: () => Promise<Result>) =>
  replace().catch((error) => {
    if (!(error instanceof AppError) || error.code !== 'key_changed') throw error;
    return { document: notReplaced(key, error.message), status: error.status };
  });
