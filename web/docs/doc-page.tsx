import { assetUrl } from '../kit/assets.ts';
import { Mark, renderDocument } from '../kit/document.tsx';
import { type DocPage, type PageNames, sections } from './docs-pages.ts';
import { type Heading, hrefOf, type ParsedPage } from './markdown.ts';
import { Markdown } from './markdown-page.tsx';
import { exampleTitle } from './reference.ts';

interface DocPageProps {
  page: DocPage;
  parsed: ParsedPage;
  /** The titles of all pages, by name, for the sidebar and the links to neighbouring pages. */
  titles: ReadonlyMap<string, string>;
  names: PageNames;
}

/** Renders a page of the documentation as HTML: header, sidebar, text and table of contents. */
export function renderDocPage({ page, parsed, titles, names }: DocPageProps): string {
  const position = names.all.indexOf(page.name);
  const isGenerated = names.generated.includes(page.name);
  const hasExample = isGenerated && parsed.headings.some(({ text }) => text === exampleTitle);
  const headings = hasExample ? [] : parsed.headings.filter(({ depth }) => depth === 2);
  const rail = <Rail titles={titles} current={page.name} below={names.below} />;
  return renderDocument({
    title: page.title,
    kind: 'docs',
    scripts: ['docs-page.js'],
    isListed: true,
    children: (
      <>
        <a class="skip-link" href="#main">
          Skip to the content
        </a>
        <header class="top">
          <a class="brand" href="/docs">
            <Mark />
            <strong>Ride Partner</strong> <span class="quiet">Docs</span>
          </a>
          <Search />
          <a href="/dashboard">Dashboard</a>
        </header>
        <details class="menu if-narrow">
          <summary>
            <strong>All pages</strong> <span class="quiet">{page.title}</span>
          </summary>
          {rail}
        </details>
        <div class={hasExample ? 'frame with-example' : 'frame'}>
          {rail}
          <main id="main" tabIndex={-1}>
            <article class={isGenerated ? 'reference' : undefined}>
              <Markdown page={parsed} besideTitle={hasExample ? exampleTitle : undefined}>
                {headings.length > 2 && <Contents headings={headings} isFolded />}
              </Markdown>
            </article>
            <footer class="page-foot">
              <div class="doors">
                <Neighbour label="Previous" name={names.all[position - 1]} titles={titles} />
                <Neighbour label="Next" name={names.all[position + 1]} titles={titles} />
              </div>
              <p class="hint">
                <a href={`${pathOf(page.name)}.md`}>This page as Markdown</a>
              </p>
            </footer>
          </main>
          {headings.length > 2 && <Contents headings={headings} />}
        </div>
      </>
    ),
  });
}

/** The field of the search. Without scripts, the stylesheet hides it. */
function Search() {
  return (
    <search class="search" data-index={assetUrl('search.json')}>
      <input
        type="text"
        placeholder="Search"
        aria-label="Search the documentation"
        aria-keyshortcuts="/"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        enterKeyHint="search"
      />
      <kbd class="if-wide">/</kbd>
      <div class="options" hidden>
        <p role="status" class="quiet" />
        <div id="search-results" role="listbox" aria-label="Results" />
      </div>
    </search>
  );
}

/**
 * The path of a page, such as `/docs/webhooks`. The first page is `/docs/index` here, because its Markdown is at
 * `/docs/index.md`.
 */
const pathOf = (name: string): string => `/docs/${name}`;

interface RailProps {
  titles: ReadonlyMap<string, string>;
  current: string;
  below: PageNames['below'];
}

function Rail({ titles, current, below }: RailProps) {
  return (
    <nav class="rail" aria-label="Documentation">
      {sections.map(({ title, names }) => (
        <div key={title}>
          <p class="label">{title}</p>
          <ul>
            {names.map((name) => (
              <li key={name}>
                <RailLink name={name} titles={titles} current={current} />
                {below[name] && (current === name || current.startsWith(`${name}/`)) && (
                  <ul>
                    {below[name].map((page) => (
                      <li key={page}>
                        <RailLink name={page} titles={titles} current={current} />
                      </li>
                    ))}
                  </ul>
                )}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

function RailLink({ name, titles, current }: { name: string; titles: ReadonlyMap<string, string>; current: string }) {
  return (
    <a href={hrefOf(`${name}.md`)} aria-current={name === current ? 'page' : undefined}>
      {titles.get(name)}
    </a>
  );
}

/** The table of contents: beside the text on wide screens, collapsed above it on narrow ones. */
function Contents({ headings, isFolded = false }: { headings: readonly Heading[]; isFolded?: boolean }) {
  const list = (
    <ul>
      {headings.map(({ id, text }) => (
        <li key={id}>
          <a href={`#${id}`}>{text}</a>
        </li>
      ))}
    </ul>
  );
  if (isFolded) {
    return (
      <details class="contents-folded">
        <summary>On this page</summary>
        {list}
      </details>
    );
  }
  return (
    <nav class="rail contents" aria-label="On this page">
      <p class="label">On this page</p>
      {list}
    </nav>
  );
}

function Neighbour({ label, name, titles }: { label: string; name?: string; titles: ReadonlyMap<string, string> }) {
  if (!name) return null;
  return (
    <a class={label.toLowerCase()} href={hrefOf(`${name}.md`)}>
      <span class="hint">{label}</span> <strong>{titles.get(name)}</strong>
    </a>
  );
}
