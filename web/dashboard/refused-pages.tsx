import type { CurrentAccount } from '../../shared/accounts/members.ts';
import { ButtonLink } from '../kit/blocks.tsx';
import { ChangeForm } from '../kit/forms.tsx';
import { firstPages, roleTexts } from '../kit/roles.ts';
import { renderInFrame } from './frame.tsx';

/** The page for a member whose role may not use a route. It says who can help. */
export function refusedPage(account: CurrentAccount): string {
  const { member, members, name } = account;
  const owners = members.filter(({ role }) => role === 'owner');
  return renderInFrame(account, {
    title: 'Your role does not allow this',
    lead: (
      <p>
        Your role in {name} is <strong>{roleTexts[member.role].name}</strong>: {roleTexts[member.role].text}.
      </p>
    ),
    children: (
      <div class="stack">
        <p>{owners.length === 1 ? 'The owner can give you another role:' : 'The owners can give you another role:'}</p>
        <ul>
          {owners.map(({ id, email }) => (
            <li key={id}>
              <a href={`mailto:${email}`}>{email}</a>
            </li>
          ))}
        </ul>
        <p>
          <ButtonLink to={firstPages[member.role]}>Continue</ButtonLink>
        </p>
      </div>
    ),
  });
}

/** The page for a form of a page that was rendered for another account, for example in another tab. */
export function otherAccountPage(account: CurrentAccount, renderedFor: string): string {
  const other = account.others.find(({ _id }) => _id === renderedFor);
  return renderInFrame(account, {
    title: 'This page was of another account',
    hasErrors: true,
    children: (
      <>
        <div class="notice bad" role="alert" tabIndex={-1} data-focus>
          <p>
            <strong>Nothing was changed.</strong> You now work in {account.name}. The form was of{' '}
            {other ? other.name : 'another account'}: you switched the account in another tab.
          </p>
        </div>
        <div class="actions">
          {other && (
            <ChangeForm action="/dashboard/switch">
              <input type="hidden" name="to" value={other._id} />
              <button class="btn breakable" type="submit">
                Switch to {other.name}
              </button>
            </ChangeForm>
          )}
          <a class="btn second breakable" href="/dashboard">
            Stay in {account.name}
          </a>
        </div>
      </>
    ),
  });
}
