import type { ComponentChildren } from 'preact';
import { Mark, renderDocument } from '../kit/document.tsx';

/** Asks for the driver's key. A typed key is never shown again. */
export function signInPage({ isWrong }: { isWrong: boolean }): string {
  return page({
    title: isWrong ? 'Error: Sign in to drive' : 'Sign in to drive',
    children: (
      <>
        <h1>Sign in to drive</h1>
        {isWrong && (
          <p class="wrong" role="alert" id="wrong">
            This key does not work. Check that you have entered the whole key, or ask your operator for a new one.
          </p>
        )}
        <NeedsScripts />
        <form method="post" action="/drive/sign-in">
          <label for="key">Driver key</label>
          <p class="quiet" id="key-hint">
            From your operator. It begins with <code>svc_driver_</code>
          </p>
          <input
            id="key"
            name="key"
            type="password"
            required
            maxLength={200}
            autocomplete="current-password"
            autocapitalize="none"
            spellcheck={false}
            aria-describedby={isWrong ? 'wrong key-hint' : 'key-hint'}
            aria-invalid={isWrong ? 'true' : undefined}
          />
          <button class="main-action" type="submit">
            Sign in
          </button>
        </form>
        <p class="quiet">You stay signed in on this phone until you have not used this page for 30 days.</p>
      </>
    ),
  });
}

/** The page for the limit of wrong keys. */
export function tooManyPage(waitMs: number): string {
  const minutes = Math.max(1, Math.ceil(waitMs / 60_000));
  return page({
    title: 'Too many wrong keys',
    children: (
      <>
        <h1>Too many wrong keys</h1>
        <p>Twenty wrong keys were entered from your network address within 15 minutes.</p>
        <p>
          <strong>Try again in {minutes === 1 ? '1 minute' : `${minutes} minutes`}.</strong> To try now, switch between
          mobile data and Wi-Fi: this changes your network address.
        </p>
        <p>
          <a class="second-action" href="/drive">
            Back to sign in
          </a>
        </p>
      </>
    ),
  });
}

export const NeedsScripts = ({ children }: { children?: ComponentChildren }) => (
  <noscript>
    <p class="wrong">
      This page needs JavaScript. Allow it for this site in the browser's settings, then load the page again. {children}
    </p>
  </noscript>
);

function page({ title, children }: { title: string; children: ComponentChildren }): string {
  return renderDocument({
    title,
    kind: 'drive drive-sign-in',
    children: (
      <main>
        <p class="brand">
          <Mark />
          <span>Ride Partner</span>
        </p>
        {children}
      </main>
    ),
  });
}
