import { type Invitation, type Member, roles } from '../../shared/accounts/account.ts';
import type { CurrentAccount } from '../../shared/accounts/members.ts';
import type { Document } from '../kit/answer.ts';
import { Facts, Section } from '../kit/blocks.tsx';
import { AskButton, DeclaredForm } from '../kit/declared-form.tsx';
import { None, Time } from '../kit/facts.tsx';
import { ChoiceField } from '../kit/forms.tsx';
import { roleTexts } from '../kit/roles.ts';
import { type Column, Table } from '../kit/table.tsx';

export const roleOptions = roles.map((role) => [role, roleTexts[role].name] as const);

interface TeamData {
  account: CurrentAccount;
  /** When each member was last seen, by member id. */
  seen: ReadonlyMap<string, Date>;
  now: number;
}

/** The members of the account and, for owners, the invitations and all changes. */
export function teamView({ account, seen, now }: TeamData): Document {
  const { member, members, invitations = [] } = account;
  const isOwner = member.role === 'owner';
  const others = members.filter(({ id }) => id !== member.id);
  const mayHandOver = isOwner && others.length > 0;
  return {
    title: 'Team',
    lead: <p>The people of {account.name}. Each person signs in with their own address.</p>,
    children: (
      <>
        <Section id="members" title="Members">
          <Table labelledBy="members" rows={members} columns={memberColumns(member, seen)} />
        </Section>
        {isOwner && (
          <>
            <Section id="invite" title="Invite a person">
              <DeclaredForm name="invitations" values={{ role: 'desk' }} button="Send invitation" />
              <Facts of={Object.values(roleTexts).map(({ name, text }) => [name, text])} />
            </Section>
            {invitations.length > 0 && (
              <Section id="invitations" title="Invitations">
                <Table labelledBy="invitations" rows={invitations} columns={invitationColumns(now)} />
              </Section>
            )}
            <Section id="account-name" title="Name of the account">
              <DeclaredForm name="name" values={{ name: account.name }} button="Save name" second />
            </Section>
            <Section id="support" title="Help for passengers">
              <DeclaredForm
                name="support-phone"
                values={{ phone: account.supportPhone ?? '' }}
                button="Save number"
                second
              />
            </Section>
          </>
        )}
        <Section id="leave" title={mayHandOver ? 'Hand over or leave' : 'Leave'}>
          {mayHandOver && (
            <AskButton name="hand-over" class="form inline" button="Hand over" second>
              <ChoiceField name="member" label="New owner" options={others.map(({ id, email }) => [id, email])} />
            </AskButton>
          )}
          {others.some(({ role }) => role === 'owner') ? (
            <AskButton name="leave" button="Leave this account" danger />
          ) : (
            <p class="quiet">You are the only owner. To leave, make another member an owner first.</p>
          )}
        </Section>
      </>
    ),
  };
}

const memberColumns = (you: Member, seen: TeamData['seen']): (Column<Member> | false)[] => [
  { head: 'E-mail', at: 'name breakable line-1', cell: (member) => <Email {...member} isYou={member.id === you.id} /> },
  {
    head: 'Role',
    at: 'line-2 small',
    cell: (member) => (you.role === 'owner' ? <RoleForm {...member} /> : roleTexts[member.role].name),
  },
  { head: 'Joined', at: smallAt(3), label: true, cell: ({ joinedAt }) => <Time at={joinedAt} form="date" /> },
  { head: 'Last seen', at: smallAt(4), label: true, cell: ({ id }) => <Seen at={seen.get(id)} /> },
  you.role === 'owner' && {
    ...changes,
    cell: ({ id }) => (
      <AskButton name="remove" params={{ memberId: id }} button="Remove" danger about={`email-${id}`} />
    ),
  },
];

const invitationColumns = (now: number): Column<Invitation>[] => [
  { head: 'E-mail', at: 'name breakable line-1', cell: ({ email }) => email },
  { head: 'Role', at: 'line-2 small', cell: ({ role }) => roleTexts[role].name },
  { head: 'Sent', at: smallAt(3), label: true, cell: ({ at }) => <Time at={at} /> },
  {
    head: 'Expires',
    at: smallAt(4),
    label: true,
    cell: ({ expiresAt: at }) => (at.getTime() > now ? <Time at={at} /> : <strong>expired</strong>),
  },
  {
    ...changes,
    cell: ({ id, email }) => (
      <div class="actions">
        <DeclaredForm
          name="send-again"
          params={{ invitationId: id }}
          button="Send again"
          spoken={` to ${email}`}
          second
        />
        <DeclaredForm
          name="withdraw"
          params={{ invitationId: id }}
          button="Withdraw"
          spoken={` the invitation of ${email}`}
          second
        />
      </div>
    ),
  },
];

const smallAt = (line: number) => `line-${line} left small`;
const changes = { head: 'Change', at: 'corner', spoken: true };

const Email = ({ id, email, isYou }: Member & { isYou: boolean }) => (
  <>
    <span id={`email-${id}`}>{email}</span> {isYou && <strong class="pill">you</strong>}
  </>
);

const Seen = ({ at }: { at?: Date }) => (at ? <Time at={at} /> : <None />);

const RoleForm = ({ id, email, role }: Member) => (
  <DeclaredForm
    name="role"
    params={{ memberId: id }}
    class="find"
    button="Change"
    spoken={` the role of ${email}`}
    second
  >
    <select name="role" aria-label={`Role of ${email}`} autocomplete="off">
      {roleOptions.map(([option, label]) => (
        <option key={option} value={option} selected={option === role}>
          {label}
        </option>
      ))}
    </select>
  </DeclaredForm>
);
