import { ChangeForm, FaultSummary, type Faults, TextField } from '../forms.tsx';
import { CodeForm, CodeLead } from './code-forms.tsx';
import { outsidePage } from './outside-page.tsx';

export interface SignInView {
  /** The page to see after signing in. */
  next: string;
  /** The address that this browser has asked a code for, if it has. */
  open: { email: string; hasCode: boolean } | null;
  /** What was typed as an address. */
  email?: string;
  faults?: Faults;
  /** Asked for a code, but this browser has not kept our cookie. */
  hasNoCookie?: boolean;
}

/** Where nobody is signed in: asks for an address, and then for the code that was sent there. */
export function signInPage(view: SignInView): string {
  const { faults = {}, open } = view;
  const title = open ? 'Enter the code' : 'Sign in';
  return outsidePage({
    title,
    hasErrors: Object.keys(faults).length > 0,
    children: (
      <>
        <h1>{title}</h1>
        <FaultSummary faults={faults} title="You are not signed in yet" />
        {open ? <CodeStep {...view} open={open} /> : <AddressStep {...view} />}
      </>
    ),
  });
}

function AddressStep({ hasNoCookie, ...view }: SignInView) {
  return (
    <>
      {hasNoCookie && (
        <div class="notice bad" role="alert">
          <p>
            This browser has no open sign-in: it has run out, or the browser does not keep our cookie. Allow cookies for
            this site and have a new code sent.
          </p>
        </div>
      )}
      <p class="lead">We send a code to your e-mail address; there is no password. A new address gets an account.</p>
      <AddressForm {...view} autofocus={!view.faults} />
    </>
  );
}

function CodeStep({ open, next, faults, ...view }: SignInView & { open: { email: string; hasCode: boolean } }) {
  return (
    <>
      <CodeLead {...open} />
      <CodeForm action="/dashboard/sign-in" next={next} faults={faults} hasCode={open.hasCode} button="Sign in" />
      <section class="again" aria-labelledby="again">
        <h2 id="again">{open.hasCode ? 'No mail yet?' : 'A new code'}</h2>
        <p>
          A mail can take a few minutes, in some companies twenty. Look into the spam folder too. You can have another
          mail sent, also to another address.
        </p>
        <AddressForm {...view} open={open} next={next} faults={faults} isSecond={open.hasCode} />
      </section>
    </>
  );
}

function AddressForm({
  next,
  open,
  email = open?.email,
  faults,
  autofocus,
  isSecond,
}: SignInView & { autofocus?: boolean; isSecond?: boolean }) {
  return (
    <ChangeForm action="/dashboard/sign-in/code" class="form">
      <input type="hidden" name="next" value={next} />
      <TextField
        name="email"
        label="E-mail"
        type="email"
        faults={faults}
        value={email}
        autocomplete="email"
        inputmode="email"
        maxLength={254}
        autofocus={autofocus}
      />
      <button class={isSecond ? 'btn second' : 'btn'} type="submit">
        Send code
      </button>
    </ChangeForm>
  );
}

/** No mail server is set: nobody can be sent a code. */
export function noMailPage(): string {
  return outsidePage({
    title: 'Sign in',
    children: (
      <>
        <h1>Sign in</h1>
        <div class="notice bad">
          <p>
            <strong>Mail is not set up.</strong> Signing in needs a code that is sent by e-mail, and this service has no
            mail server yet.
          </p>
          <p>
            Its operator sets <code>SMTP_URL</code> and <code>MAIL_FROM</code>, and restarts the API and the worker pool{' '}
            <code>mail</code>.
          </p>
        </div>
      </>
    ),
  });
}
