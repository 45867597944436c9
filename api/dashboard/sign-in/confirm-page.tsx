import type { Account } from '../../../shared/accounts/account.ts';
import { ChangeForm, FaultSummary, type Faults } from '../forms.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import { CodeForm, CodeLead } from './code-forms.tsx';

interface ConfirmView {
  account: Account;
  /** The page to see afterwards. */
  next: string;
  /** Whether a mail was asked for in this session, and whether its code can still be entered. */
  open: { hasCode: boolean } | null;
  faults?: Faults;
}

/** Asks for a new code before a secret is shown or a live key made. */
export function confirmPage({ account, next, open, faults = {} }: ConfirmView): string {
  return dashboardPage({
    title: 'Confirm that it is you',
    account,
    room: 'account',
    hasErrors: Object.keys(faults).length > 0,
    children: (
      <>
        <PageHead title="Confirm that it is you">
          <p>
            Secrets are shown, keys rotated and live keys made only with a code that is at most 12 hours old. Revoking a
            key never needs one.
          </p>
        </PageHead>
        <FaultSummary faults={faults} title="Not confirmed yet" />
        {open ? (
          <div class="confirm">
            <CodeLead email={account.email} hasCode={open.hasCode} />
            <CodeForm
              action="/dashboard/confirm"
              next={next}
              faults={faults.code ? faults : undefined}
              hasCode={open.hasCode}
              button="Confirm"
            />
            <section class="section" aria-labelledby="again">
              <h2 id="again">{open.hasCode ? 'No mail yet?' : 'A new code'}</h2>
              {open.hasCode && <p>A mail can take a few minutes. Look into the spam folder too.</p>}
              <SendForm next={next} isSecond={open.hasCode} />
            </section>
          </div>
        ) : (
          <div class="confirm">
            <p>
              We send a code to <strong class="address">{account.email}</strong>. Afterwards you return to the page that
              you came from.
            </p>
            <SendForm next={next} isSecond={false} />
          </div>
        )}
      </>
    ),
  });
}

function SendForm({ next, isSecond }: { next: string; isSecond: boolean }) {
  return (
    <ChangeForm action="/dashboard/confirm/code" class="form">
      <input type="hidden" name="next" value={next} />
      <div class="actions">
        <button class={isSecond ? 'btn second' : 'btn'} type="submit">
          Send code
        </button>
        <a class="btn second" href={next}>
          Cancel
        </a>
      </div>
    </ChangeForm>
  );
}
