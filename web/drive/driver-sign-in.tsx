import type { ComponentChildren } from 'preact';
import { Mark, renderDocument } from '../kit/document.tsx';
import { LanguageMenu } from '../kit/language-menu.tsx';
import type { DriveLanguage } from './drive-words.ts';

/** Asks for the driver's key. A typed key is never shown again. */
export function signInPage(language: DriveLanguage, { isWrong }: { isWrong: boolean }): string {
  const { text } = language;
  const title = text('page.signIn.title');
  return page(language, {
    title: isWrong ? text('page.signIn.error', { title }) : title,
    children: (
      <>
        <h1>{title}</h1>
        {isWrong && (
          <p class="notice bad" role="alert" id="wrong">
            {text('page.wrongKey')}
          </p>
        )}
        <NeedsScripts language={language} />
        <form class="form" method="post" action="/drive/sign-in">
          <div class="field">
            <label for="key">{text('page.key')}</label>
            <p class="quiet" id="key-hint">
              {text('page.keyHint')} <code dir="ltr">svc_driver_</code>
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
          </div>
          <button class="btn main" type="submit">
            {text('page.signIn')}
          </button>
        </form>
        <p class="quiet">{text('page.staySignedIn')}</p>
      </>
    ),
  });
}

/** The page for the limit of wrong keys. */
export function tooManyPage(language: DriveLanguage, waitMs: number): string {
  const { text } = language;
  const minutes = Math.max(1, Math.ceil(waitMs / 60_000));
  return page(language, {
    title: text('page.tooMany'),
    children: (
      <>
        <h1>{text('page.tooMany')}</h1>
        <p>{text('page.tooMany.text')}</p>
        <p>
          <strong>{text('page.tooMany.wait', { minutes })}</strong> {text('page.tooMany.now')}
        </p>
        <p>
          <a class="btn second" href="/drive">
            {text('page.tooMany.back')}
          </a>
        </p>
      </>
    ),
  });
}

export const NeedsScripts = ({
  language: { text },
  children,
}: {
  language: DriveLanguage;
  children?: ComponentChildren;
}) => (
  <noscript>
    <p class="notice bad">
      {text('page.scripts')} {children}
    </p>
  </noscript>
);

function page({ locale }: DriveLanguage, { title, children }: { title: string; children: ComponentChildren }): string {
  return renderDocument({
    title,
    locale,
    kind: 'drive sign-in',
    children: (
      <main>
        <div class="brand">
          <Mark />
          <span>Ride Partner</span>
          <LanguageMenu locale={locale} />
        </div>
        {children}
      </main>
    ),
  });
}
