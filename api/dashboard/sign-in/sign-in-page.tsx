import type { ComponentChildren } from 'preact';
import { renderDocument } from '../../pages/document.tsx';
import { Mark } from '../../pages/mark.tsx';
import { ChangeForm, FaultSummary, type Faults, TextField } from '../forms.tsx';

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
  return page({
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
  const address = <strong class="address">{open.email}</strong>;
  return (
    <>
      {open.hasCode ? (
        <p class="lead">We have sent a code to {address}. It works for 15 minutes, in this browser alone.</p>
      ) : (
        <p class="lead">No code for {address} works any more: send a new one.</p>
      )}
      <ChangeForm action="/dashboard/sign-in" class="form code-form">
        <input type="hidden" name="next" value={next} />
        <TextField
          name="code"
          label="Code"
          hint="Six digits, such as 123 456"
          faults={faults}
          autocomplete="one-time-code"
          inputmode="numeric"
          maxLength={32}
          autofocus={!faults && open.hasCode}
        />
        <button class={open.hasCode ? 'btn' : 'btn second'} type="submit">
          Sign in
        </button>
      </ChangeForm>
      <section class="again" aria-labelledby="again">
        <h2 id="again">{open.hasCode ? 'No mail yet?' : 'A new code'}</h2>
        <p>
          A mail can take a few minutes, in some companies twenty. Look into the spam folder too. You can have another
          code sent, also to another address.
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

/** A limit is reached: what happened, how long it lasts, and what helps meanwhile. */
export function limitPage({ title, text, waitMs }: { title: string; text: string; waitMs: number }): string {
  return page({
    title,
    children: (
      <>
        <h1>{title}</h1>
        <p class="lead">{text}</p>
        <p>
          <strong>Try again in {minutesText(waitMs)}.</strong>
        </p>
        <p>
          <a class="btn second" href="/dashboard">
            Back to sign in
          </a>
        </p>
      </>
    ),
  });
}

function minutesText(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
}

/** No mail server is set: nobody can be sent a code. */
export function noMailPage(): string {
  return page({
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

function page({ title, hasErrors, children }: { title: string; hasErrors?: boolean; children: ComponentChildren }) {
  return renderDocument({
    title: hasErrors ? `Error: ${title}` : title,
    kind: 'dashboard sign-in',
    scripts: ['dashboard-page.js'],
    children: (
      <main id="main">
        <p class="brand">
          <Mark />
          <span>Ride Partner</span>
        </p>
        {children}
      </main>
    ),
  });
}
