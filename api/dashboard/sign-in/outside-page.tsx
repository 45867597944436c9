import type { ComponentChildren } from 'preact';
import { renderDocument, Mark } from '../../pages/document.tsx';

interface OutsidePage {
  title: string;
  hasErrors?: boolean;
  children: ComponentChildren;
}

/** A page of the dashboard without its rooms: signing in, and what belongs to it. */
export function outsidePage({ title, hasErrors, children }: OutsidePage): string {
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
