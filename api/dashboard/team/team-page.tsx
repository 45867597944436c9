import { type Invitation, type Member, roles } from '../../../shared/accounts/account.ts';
import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import { Fact, LinkButton, TableHead } from '../blocks.tsx';
import { None, Time } from '../facts.tsx';
import { ChangeForm, ChoiceField, FaultSummary, type Faults, TextField } from '../forms.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import { memberPath, teamInvitationPath, teamPath } from '../paths.ts';
import { roleTexts } from '../rights.ts';

interface TeamPageProps {
  account: CurrentAccount;
  /** When each member was last seen, by member id. */
  seen: ReadonlyMap<string, Date>;
  now: number;
  /** The name of the change that was just made. */
  done?: string;
  typed?: Record<string, string>;
  faults?: Faults;
  refusal?: string;
}

const doneTexts: Readonly<Record<string, string>> = {
  invited: 'The invitation is sent. It can be accepted for 72 hours.',
  withdrawn: 'The invitation is withdrawn.',
  renamed: 'The name is saved.',
  role: 'The role is saved. It applies from the next request.',
  removed: 'The member is removed.',
  'handed-over': 'The account is handed over. You are a developer now.',
};

/** The members of the account and, for owners, the invitations and all changes. */
export function teamPage(props: TeamPageProps): string {
  const { account, done = '', faults = {}, refusal } = props;
  const { member, members, invitations = [] } = account;
  const isOwner = member.role === 'owner';
  const doneText = Object.hasOwn(doneTexts, done) && !refusal ? doneTexts[done] : undefined;
  return dashboardPage({
    title: 'Team',
    account,
    section: 'team',
    hasErrors: refusal !== undefined || Object.keys(faults).length > 0,
    children: (
      <>
        <PageHead title="Team">
          <p>The people of {account.name}. Each person signs in with their own address.</p>
        </PageHead>
        {doneText && (
          <div class="notice good" role="status">
            <p>{doneText}</p>
          </div>
        )}
        {refusal && (
          <div class="notice bad" role="alert" tabIndex={-1} data-focus>
            <p>{refusal}</p>
          </div>
        )}
        <FaultSummary faults={faults} />
        <section class="section" aria-labelledby="members">
          <h2 id="members">Members</h2>
          <MemberTable {...props} />
        </section>
        {isOwner && (
          <>
            <InviteForm {...props} />
            {invitations.length > 0 && <Invitations {...props} invitations={invitations} />}
            <NameForm {...props} />
          </>
        )}
        <section class="section" aria-labelledby="leave">
          <h2 id="leave">{isOwner && members.length > 1 ? 'Hand over or leave' : 'Leave'}</h2>
          {isOwner && members.length > 1 && <HandOverForm {...props} />}
          {members.some(({ id, role }) => role === 'owner' && id !== member.id) ? (
            <LinkButton to={`${teamPath}/leave`} danger>
              Leave this account
            </LinkButton>
          ) : (
            <p class="quiet">You are the only owner. To leave, make another member an owner first.</p>
          )}
        </section>
      </>
    ),
  });
}

const roleOptions = roles.map((role) => [role, roleTexts[role].name] as const);

function MemberTable({ account, seen }: TeamPageProps) {
  const isOwner = account.member.role === 'owner';
  const actions = isOwner ? [<span class="spoken">Change</span>] : [];
  return (
    <table class="table team cards" aria-labelledby="members">
      <TableHead columns={['E-mail', 'Role', 'Joined', 'Last seen', ...actions]} />
      <tbody>
        {account.members.map((member) => (
          <tr key={member.id}>
            <td class="name breakable">
              <span id={`email-${member.id}`}>{member.email}</span>{' '}
              {member.id === account.member.id && <strong class="pill">you</strong>}
            </td>
            <td class="role">{isOwner ? <RoleForm member={member} /> : roleTexts[member.role].name}</td>
            <td data-label="Joined" class="at">
              <Time at={member.joinedAt} form="date" />
            </td>
            <td data-label="Last seen" class="seen">
              <Seen at={seen.get(member.id)} />
            </td>
            {isOwner && (
              <td class="action">
                <form method="get" action={`${memberPath(member.id)}/remove`}>
                  <button class="btn danger" type="submit" aria-describedby={`email-${member.id}`}>
                    Remove
                  </button>
                </form>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const Seen = ({ at }: { at?: Date }) => (at ? <Time at={at} /> : <None />);

function RoleForm({ member: { id, email, role } }: { member: Member }) {
  return (
    <ChangeForm action={`${memberPath(id)}/role`} class="role-form">
      <select name="role" aria-label={`Role of ${email}`} autocomplete="off">
        {roleOptions.map(([option, label]) => (
          <option key={option} value={option} selected={option === role}>
            {label}
          </option>
        ))}
      </select>
      <button class="btn second" type="submit">
        Change<span class="spoken"> the role of {email}</span>
      </button>
    </ChangeForm>
  );
}

function InviteForm({ typed, faults }: TeamPageProps) {
  return (
    <section class="section" aria-labelledby="invite">
      <h2 id="invite">Invite a person</h2>
      <ChangeForm action={`${teamPath}/invitations`} class="form inline">
        <TextField
          name="email"
          label="E-mail"
          type="email"
          value={typed?.email}
          faults={faults}
          inputmode="email"
          maxLength={254}
        />
        <ChoiceField name="role" label="Role" value={typed?.role || 'desk'} faults={faults} options={roleOptions} />
        <button class="btn" type="submit">
          Send invitation
        </button>
      </ChangeForm>
      <dl class="facts roles">
        {roles.map((role) => (
          <Fact key={role} name={roleTexts[role].name}>
            {roleTexts[role].text}
          </Fact>
        ))}
      </dl>
    </section>
  );
}

function Invitations({ invitations, now }: TeamPageProps & { invitations: readonly Invitation[] }) {
  return (
    <section class="section" aria-labelledby="invitations">
      <h2 id="invitations">Invitations</h2>
      <table class="table invitations cards" aria-labelledby="invitations">
        <TableHead columns={['E-mail', 'Role', 'Sent', 'Expires', <span class="spoken">Change</span>]} />
        <tbody>
          {invitations.map(({ id, email, role, at, expiresAt }) => (
            <tr key={id}>
              <td class="name breakable">{email}</td>
              <td class="role">{roleTexts[role].name}</td>
              <td data-label="Sent" class="at">
                <Time at={at} />
              </td>
              <td data-label="Expires" class="seen">
                {expiresAt.getTime() > now ? <Time at={expiresAt} /> : <strong>expired</strong>}
              </td>
              <td class="action">
                <div class="actions">
                  <ChangeForm action={`${teamInvitationPath(id)}/send-again`}>
                    <button class="btn second" type="submit">
                      Send again<span class="spoken"> to {email}</span>
                    </button>
                  </ChangeForm>
                  <ChangeForm action={`${teamInvitationPath(id)}/withdraw`}>
                    <button class="btn second" type="submit">
                      Withdraw<span class="spoken"> the invitation of {email}</span>
                    </button>
                  </ChangeForm>
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function NameForm({ account, typed, faults }: TeamPageProps) {
  return (
    <section class="section" aria-labelledby="account-name">
      <h2 id="account-name">Name of the account</h2>
      <ChangeForm action={`${teamPath}/name`} class="form inline">
        <TextField
          name="name"
          label="Name"
          hint="Shown on every page and in invitations, for example “Grand Hotel”."
          value={typed?.name ?? account.name}
          faults={faults}
          maxLength={254}
        />
        <button class="btn second" type="submit">
          Save name
        </button>
      </ChangeForm>
    </section>
  );
}

function HandOverForm({ account: { member, members } }: TeamPageProps) {
  const others = members.filter(({ id }) => id !== member.id).map(({ id, email }) => [id, email] as const);
  return (
    <form method="get" action={`${teamPath}/hand-over`} class="form inline">
      <ChoiceField name="member" label="New owner" options={others} />
      <button class="btn second" type="submit">
        Hand over
      </button>
    </form>
  );
}
