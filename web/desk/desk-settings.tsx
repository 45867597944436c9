import { audit } from '../../shared/accounts/audit.ts';
import { chooseDeskKey, readDesk } from '../../shared/accounts/desk.ts';
import { derivedAuditId } from '../../shared/base/ids.ts';
import type { KeyFacts } from '../../shared/keys/manage-keys.ts';
import type { Document } from '../kit/answer.ts';
import { ButtonLink, Empty, Submit } from '../kit/blocks.tsx';
import { Fault } from '../kit/declared-form.tsx';
import { ModePill } from '../kit/facts.tsx';
import { form } from '../kit/form.ts';
import { ChangeForm } from '../kit/forms.tsx';
import { page } from '../kit/page.tsx';
import { deskPath, deskSettingsPath, keysPath } from '../kit/paths.ts';
import { builders } from '../kit/roles.ts';
import { type DeskKey, KeyNotice, readDeskKey, usableKeys } from './desk-key.tsx';

/** The settings of the desk: the key with which it books. */
export const deskSettings = page('/desk/settings', {
  section: 'desk',
  roles: builders,
  find: ({ owner }) => usableKeys(owner),
  read: async ({ account, owner }, keys) => ({ keys, deskKey: await readDeskKey(await readDesk(account._id), owner) }),
  view: settingsView,
  forms: {
    key: form({
      path: '/desk/settings',
      async act({ account, owner, sent, from, arrivedAt, text }, _, keys: KeyFacts[]) {
        const key = keys.find(({ _id }) => _id === text('key'));
        if (!key) return { again: 422, faults: { key: 'Choose one of the active keys' } };
        await chooseDeskKey(account._id, sent.id, key._id);
        const _id = derivedAuditId('desk_key_chosen', sent.id);
        const entry = { _id, ...owner, member: account.member.email, from, action: 'desk_key_chosen' as const };
        await audit({ ...entry, keyId: key._id }, arrivedAt.getTime());
        return { redirectTo: deskPath() };
      },
    }),
  },
});

function settingsView({ keys, deskKey }: { keys: readonly KeyFacts[]; deskKey: DeskKey }): Document {
  const chosen = deskKey.state === 'active' ? deskKey.key : undefined;
  return {
    title: 'Desk settings',
    lead: <p>The desk books with one key of this account. The limits, webhooks and statements of this key apply.</p>,
    actions: <ButtonLink to={deskPath()}>Back to the desk</ButtonLink>,
    test: chosen?.mode === 'test',
    children: (
      <>
        {deskKey.state !== 'none' && !chosen && <KeyNotice deskKey={deskKey} />}
        {keys.length === 0 ? (
          <Empty text="The desk needs a key, and this account has no active one.">
            <a class="btn" href={`${keysPath}/new?mode=test`}>
              Create test key
            </a>
          </Empty>
        ) : (
          <ChangeForm action={deskSettingsPath} class="form">
            <fieldset id="key">
              <legend>Key of the desk</legend>
              <Fault of="key" />
              {keys.map(({ _id, name, hint, mode }) => (
                <label key={_id}>
                  <input type="radio" name="key" value={_id} checked={_id === chosen?._id} />
                  <span class="breakable">
                    <strong>{name}</strong> <ModePill mode={mode} /> <code class="quiet">{hint}</code>
                    <span class="sub">
                      {mode === 'live'
                        ? 'Live rides: real drivers see every booking.'
                        : 'Test rides: a simulated driver drives them, to try the desk out.'}
                    </span>
                  </span>
                </label>
              ))}
            </fieldset>
            <div>
              <Submit>Save</Submit>
            </div>
          </ChangeForm>
        )}
      </>
    ),
  };
}
