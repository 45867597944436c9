import type { ComponentChildren } from 'preact';
import { assetUrl } from './assets.ts';
import { directionOf } from './message-format.ts';
import { renderHtml } from './render.ts';

interface DocumentProps {
  /** The language of the page (BCP 47); English by default. */
  locale?: string;
  /** The title of the browser tab; the service's name is appended. */
  title: string;
  /** Names of bundled browser scripts. The page works without them. */
  scripts?: readonly string[];
  /** A script that changes the first view, such as times in the reader's zone: the browser runs it before it paints. */
  firstScript?: string;
  /** True if search engines may list the page. */
  isListed?: boolean;
  /** The class of the body, for the stylesheet. */
  kind: string;
  /** For a page whose content will change: without scripts, the browser loads this path (no fragment) after 3 s. */
  refreshPath?: string;
  children: ComponentChildren;
}

/** Renders a whole page as HTML, and escapes all user input. */
export function renderDocument(props: DocumentProps): string {
  return `<!doctype html>${renderHtml(<Document {...props} />)}`;
}

function Document({
  locale = 'en',
  title,
  scripts = [],
  firstScript,
  isListed,
  kind,
  refreshPath,
  children,
}: DocumentProps) {
  return (
    <html lang={locale} dir={directionOf(locale)}>
      <head>
        <meta charset="utf-8" />
        <title>{`${title} - Ride Partner`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
        <meta name="color-scheme" content="light dark" />
        {!isListed && <meta name="robots" content="noindex" />}
        <link rel="icon" type="image/svg+xml" href={assetUrl('icon.svg')} />
        <link rel="stylesheet" href={assetUrl('styles.css')} />
        {refreshPath !== undefined && (
          <noscript>
            {/* Without a path, the browser would only scroll to the fragment in the page's address. */}
            <meta http-equiv="refresh" content={`3; url=${refreshPath}`} />
          </noscript>
        )}
        {firstScript && <script type="module" src={assetUrl(firstScript)} {...{ blocking: 'render' }} />}
        {scripts.map((name) => (
          <script key={name} type="module" src={assetUrl(name)} />
        ))}
      </head>
      <body class={kind}>{children}</body>
    </html>
  );
}

/** The service's logo: the arrowhead that is also the car on the map. */
export function Mark() {
  return (
    <svg class="mark" width="24" height="24" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#0b6e6e" />
      <path d="M16 6l8 19-8-4-8 4z" fill="#fff" />
    </svg>
  );
}

interface OutsidePage {
  title: string;
  kind?: 'sign-in' | 'wall';
  hasErrors?: boolean;
  scripts?: readonly string[];
  children?: ComponentChildren;
}

/** A page of the dashboard without navigation: for sign-in, or for a screen on a wall. */
export function outsidePage({ title, kind = 'sign-in', hasErrors, scripts, children }: OutsidePage): string {
  return renderDocument({
    title: hasErrors ? `Error: ${title}` : title,
    kind: `dashboard ${kind}`,
    firstScript: 'dashboard-page.js',
    scripts,
    children: (
      <main id="main">
        {kind === 'sign-in' && (
          <>
            <p class="brand">
              <Mark />
              <span>Ride Partner</span>
            </p>
            <h1>{title}</h1>
          </>
        )}
        {children}
      </main>
    ),
  });
}
