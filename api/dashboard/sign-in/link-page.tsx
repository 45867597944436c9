import { ChangeForm } from '../forms.tsx';
import { linkPath } from './mails.ts';
import { outsidePage } from './outside-page.tsx';

/**
 * The page that a link in a mail opens. It changes nothing: mail scanners open links too. Its button signs in, or confirms the
 * session of somebody who is signed in.
 */
export function linkPage({ email, link, isSignedIn }: { email: string; link: string; isSignedIn: boolean }): string {
  const title = isSignedIn ? 'Confirm that it is you' : 'Sign in';
  return outsidePage({
    title,
    children: (
      <>
        <h1>{title}</h1>
        <p class="lead">
          {isSignedIn ? 'You are signed in as ' : 'You sign in as '}
          <strong class="address">{email}</strong>.
        </p>
        <ChangeForm action={linkPath(link)} class="form">
          <button class="btn" type="submit" autofocus>
            {isSignedIn ? 'Confirm' : 'Sign in'}
          </button>
        </ChangeForm>
      </>
    ),
  });
}

/** A link that is of another browser, used, or too old. */
export function deadLinkPage(): string {
  const title = 'This link does not work here';
  return outsidePage({
    title,
    children: (
      <>
        <h1>{title}</h1>
        <p class="lead">
          It works once, within an hour, and only in the browser that asked for it. If you asked in another browser, or
          on another device, copy the link into that one, or enter the code of the same mail there.
        </p>
        <p>
          <a class="btn second" href="/dashboard">
            Go to sign in
          </a>
        </p>
      </>
    ),
  });
}
