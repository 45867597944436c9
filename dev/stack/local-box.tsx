import compose from 'koa-compose';
import type { ComponentChildren } from 'preact';
import { pageHeaders } from '../../api/http/security-headers.ts';
import type { Part, RequestContext } from '../../api/part.ts';
import { Empty, PageHead } from '../../web/kit/blocks.tsx';
import { renderDocument } from '../../web/kit/document.tsx';
import { pageError } from '../../web/kit/error-page.tsx';
import { onlyLocal } from './local-pages.ts';

/** A list shows this many entries, the newest first. */
export const newest = { sort: { createdAt: -1, _id: -1 }, limit: 50 } as const;

interface LocalBox {
  /** The part's name, and the name of the page in an error. */
  name: string;
  path: string;
  title: string;
  /** What the page lists. */
  what: string;
  /** The text of an empty list, with a link that helps. */
  empty: { text: string; href: string; label: string };
  cards(): Promise<ComponentChildren[]>;
}

/** A page that lists what a development stack would send, for this machine only. */
export const localBox = ({ name, path, title, what, empty, cards }: LocalBox): Part => ({
  name,
  owns: (wanted) => wanted === path,
  routes: () => [{ method: 'GET', path }],
  headers: new Map([...pageHeaders(), ['Cache-Control', 'no-store']]),
  handle: compose<RequestContext>([
    onlyLocal(name, path),
    async (ctx) => {
      const shown = await cards();
      ctx.type = 'html';
      ctx.body = renderDocument({
        title,
        kind: 'dashboard operators',
        firstScript: 'dashboard-page.js',
        children: (
          <main id="main" class="stack">
            <PageHead title={title}>
              <p>The {what} of this development stack, newest first. Reload to see new ones.</p>
            </PageHead>
            {shown.length === 0 && (
              <Empty text={empty.text}>
                <a class="btn" href={empty.href}>
                  {empty.label}
                </a>
              </Empty>
            )}
            {shown}
          </main>
        ),
      });
    },
  ]),
  renderError: pageError,
});

/** A text whose addresses are links. */
export const withLinks = (text: string) =>
  text.split(/(https?:\/\/\S+)/).map((piece) =>
    /^https?:/.test(piece) ? (
      <a key={piece} href={piece}>
        {piece}
      </a>
    ) : (
      piece
    ),
  );
