import MiniSearch from 'minisearch';
import type { DocPage } from './docs-pages.ts';
import { parseMarkdown } from './markdown.ts';
import { type SearchEntry, searchOptions } from './search-options.ts';

/** The search index of all sections of all pages as JSON, for the script in the browser. */
export function searchIndex(pages: readonly DocPage[]): string {
  const index = new MiniSearch<SearchEntry>(searchOptions);
  index.addAll(pages.flatMap(sectionsOf));
  return JSON.stringify(index);
}

/** One entry per heading, with the text up to the next heading. The page of an operation or event is one entry. */
function sectionsOf({ name, title, text }: DocPage): SearchEntry[] {
  const { tokens, headings } = parseMarkdown(text);
  const left = [...headings];
  const isWhole = name.includes('/');
  const path = name === 'index' ? '/docs' : `/docs/${name}`;
  const sections: SearchEntry[] = [];
  for (const token of tokens) {
    if (token.type === 'heading') {
      const heading = left.shift();
      if (!heading || (heading.depth > 1 && isWhole)) continue;
      const isTop = heading.depth === 1;
      sections.push({
        id: isTop ? path : `${path}#${heading.id}`,
        page: title,
        section: isTop ? '' : heading.text,
        text: '',
      });
    } else {
      const section = sections.at(-1);
      if (section) section.text += ` ${wordsOf(token.raw)}`;
    }
  }
  return sections;
}

/** Removes Markdown syntax and link targets. */
const wordsOf = (markdown: string): string =>
  markdown
    .replace(/\]\([^)]*\)/g, ' ')
    .replace(/[`*|#[\]>-]+/g, ' ')
    .replace(/\s+/g, ' ');
