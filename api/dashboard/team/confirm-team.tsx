import type { Member } from '../../../shared/accounts/account.ts';
import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import { ChangeForm } from '../forms.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import { memberPath, teamPath } from '../paths.ts';
import { roleTexts } from '../rights.ts';

const questions = {
  remove: {
    title: 'Remove this member?',
    path: ({ id }: Member) => `${memberPath(id)}/remove`,
    effects: [
      'The person is signed out of this account with the next request.',
      'Rides and keys stay as they are. If the person knows a key or a signing secret, replace it.',
    ],
    button: 'Remove',
    keep: 'Keep the member',
  },
  leave: {
    title: 'Leave this account?',
    path: () => `${teamPath}/leave`,
    effects: [
      'You no longer see this account. Only an owner can invite you again.',
      'Rides and keys stay as they are.',
    ],
    button: 'Leave account',
    keep: 'Stay',
  },
  'hand-over': {
    title: 'Hand over this account?',
    path: () => `${teamPath}/hand-over`,
    effects: ['This member becomes an owner.', 'You become a developer, and can no longer change the team.'],
    button: 'Hand over',
    keep: 'Stay owner',
  },
} as const;

/** Asks for confirmation of a change of the team. */
export function confirmTeamPage({
  account,
  question,
  member,
}: {
  account: CurrentAccount;
  question: keyof typeof questions;
  member: Member;
}): string {
  const { title, path, effects, button, keep } = questions[question];
  return dashboardPage({
    title,
    account,
    section: 'team',
    children: (
      <>
        <PageHead title={title}>
          <p>
            {question === 'leave' ? account.name : <span class="breakable">{member.email}</span>}
            <span class="quiet">
              , {question === 'leave' && 'your role: '}
              {roleTexts[member.role].name}
            </span>
          </p>
        </PageHead>
        <ul class="effects">
          {effects.map((effect) => (
            <li key={effect}>{effect}</li>
          ))}
        </ul>
        <ChangeForm action={path(member)} class="actions">
          {question === 'hand-over' && <input type="hidden" name="member" value={member.id} />}
          <button class="btn destroys" type="submit">
            {button}
          </button>
          <a class="btn second" href={teamPath}>
            {keep}
          </a>
        </ChangeForm>
      </>
    ),
  });
}
