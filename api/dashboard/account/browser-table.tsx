import type { Session } from '../../../shared/accounts/session-store.ts';
import { When } from '../facts.tsx';
import { ChangeForm } from '../forms.tsx';

interface BrowserTableProps {
  sessions: readonly Session[];
  currentId: string;
  now: number;
}

/** The browsers that are signed in to the account, each with a button that ends its session. */
export function BrowserTable({ sessions, currentId, now }: BrowserTableProps) {
  return (
    <table class="table browsers" aria-labelledby="sessions">
      <thead>
        <tr>
          <th scope="col">Browser</th>
          <th scope="col">Signed in</th>
          <th scope="col">Last used</th>
          <th scope="col">Network</th>
          <th scope="col">
            <span class="spoken">Session</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {sessions.map(({ _id, browser = 'An unknown browser', network, createdAt, lastUsedAt }) => (
          <tr key={_id}>
            <td data-label="Browser">
              {browser} {_id === currentId && <strong class="pill">this browser</strong>}
            </td>
            <td data-label="Signed in">
              <When at={createdAt} now={now} />
            </td>
            <td data-label="Last used">
              <When at={lastUsedAt} now={now} />
            </td>
            <td data-label="Network">{network ? <code>{network}</code> : <span class="quiet">not known</span>}</td>
            <td data-label="">
              <ChangeForm action="/dashboard/account/end-session">
                <input type="hidden" name="session" value={_id} />
                <button class="btn second" type="submit">
                  End session<span class="spoken"> of {browser}</span>
                </button>
              </ChangeForm>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
