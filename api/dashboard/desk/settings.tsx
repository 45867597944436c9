import { audit } from '../../../shared/accounts/audit.ts';
import { chooseDeskKey, readDesk } from '../../../shared/accounts/desk.ts';
import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import type { Context } from '../../../shared/base/context.ts';
import { derivedAuditId } from '../../../shared/base/ids.ts';
import type { KeyFacts } from '../../../shared/keys/manage-keys.ts';
import { Empty } from '../../../web/kit/blocks.tsx';
import { ModePill } from '../../../web/kit/facts.tsx';
import { ChangeForm, FaultSummary, type Faults } from '../../../web/kit/forms.tsx';
import { deskPath, deskSettingsPath, keysPath } from '../../../web/kit/paths.ts';
import { clientAddress } from '../../http/forwarded.ts';
import { dashboardPage, PageHead } from '../frame.tsx';
import { type Answer, type DashboardRoute, type FormRequest, signedInRoutes } from '../page-routes.ts';
import { type DeskKey, readDeskKey, usableKeys } from './desk-key.ts';
import { KeyNotice } from './key-notice.tsx';

/** The settings of the desk: the key with which it books. */
export function deskSettingsRoutes(service: Context): DashboardRoute[] {
  const { page, action } = signedInRoutes(service);

  async function choose({ ctx, account, owner, form, sent, arrivedAt }: FormRequest): Promise<Answer> {
    const keys = await usableKeys(owner);
    const key = keys.find(({ _id }) => _id === form.text('key'));
    if (!key) return { status: 422, html: await show(account, owner, { key: 'Choose one of the active keys' }) };
    await chooseDeskKey(account._id, sent.id, key._id);
    const from = clientAddress(ctx, service);
    const by = { ...owner, member: account.member.email, from };
    const _id = derivedAuditId('desk_key_chosen', sent.id);
    await audit({ _id, ...by, action: 'desk_key_chosen', keyId: key._id }, arrivedAt.getTime());
    return { redirectTo: deskPath() };
  }

  async function show(account: CurrentAccount, owner: { accountId: string }, faults: Faults = {}): Promise<string> {
    const [desk, keys] = await Promise.all([readDesk(account._id), usableKeys(owner)]);
    return settingsPage({ account, keys, deskKey: await readDeskKey(desk, owner), faults });
  }

  return [page('/desk/settings', ({ account, owner }) => show(account, owner)), action('/desk/settings', choose)];
}

interface SettingsProps {
  account: CurrentAccount;
  keys: readonly KeyFacts[];
  deskKey: DeskKey;
  faults: Faults;
}

function settingsPage({ account, keys, deskKey, faults }: SettingsProps): string {
  const chosen = deskKey.state === 'active' ? deskKey.key : undefined;
  return dashboardPage({
    title: 'Desk settings',
    account,
    section: 'desk',
    test: chosen?.mode === 'test',
    hasErrors: Object.keys(faults).length > 0,
    children: (
      <>
        <PageHead
          title="Desk settings"
          actions={
            <a class="btn second" href={deskPath()}>
              Back to the desk
            </a>
          }
        >
          <p>The desk books with one key of this account. The limits, webhooks and statements of this key apply.</p>
        </PageHead>
        <FaultSummary faults={faults} />
        {deskKey.state !== 'none' && !chosen && <KeyNotice deskKey={deskKey} />}
        {keys.length === 0 ? (
          <Empty text="The desk needs a key, and this account has no active one.">
            <a class="btn" href={`${keysPath}/new?mode=test`}>
              Create test key
            </a>
          </Empty>
        ) : (
          <ChangeForm action={deskSettingsPath} class="form">
            <fieldset class="desk-keys" id="key">
              <legend>Key of the desk</legend>
              {faults.key && <p class="fault">{faults.key}</p>}
              {keys.map(({ _id, name, hint, mode }) => (
                <label key={_id}>
                  <input type="radio" name="key" value={_id} checked={_id === chosen?._id} />
                  <span class="breakable">
                    <strong>{name}</strong> <ModePill mode={mode} /> <code class="quiet">{hint}</code>
                    <span class="hint">
                      {mode === 'live'
                        ? 'Live rides: real drivers see every booking.'
                        : 'Test rides: a simulated driver drives them, to try the desk out.'}
                    </span>
                  </span>
                </label>
              ))}
            </fieldset>
            <div>
              <button class="btn" type="submit">
                Save
              </button>
            </div>
          </ChangeForm>
        )}
      </>
    ),
  });
}
