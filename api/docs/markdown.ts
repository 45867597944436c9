import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';

/** The pages' Markdown: its parts, its anchors, and where its links lead. */

export interface Heading {
  depth: number;
  id: string;
  text: string;
}

export interface ParsedPage {
  tokens: readonly MarkedToken[];
  headings: readonly Heading[];
}

export function parseMarkdown(text: string): ParsedPage {
  const tokens = lexer(text) as MarkedToken[];
  return { tokens, headings: headingsOf(tokens) };
}

/** What the words after the language of a code block say: `ts file=receiver.ts` shows a file's name. */
interface BlockInfo {
  language: string;
  /** `run`, `given`, `output` and so on: what the tests of the documentation do with the block. */
  mark: string;
  file?: string;
  /** Shown folded, under this label. */
  fold?: string;
  /** One of several languages for the same: blocks in a row with a tab are shown one at a time. */
  tab?: string;
}

export function blockInfo(info = ''): BlockInfo {
  const [language = '', ...words] = info.split(' ');
  const values = new Map(words.map((word) => [word.replace(/=.*/, ''), word.replace(/^[^=]*=?/, '')]));
  const mark = words.find((word) => !word.startsWith('fold='))?.replace(/=.*/, '') ?? '';
  return { language, mark, file: values.get('file'), fold: values.get('fold'), tab: values.get('tab') };
}

/** Where a link of a page leads: `webhooks.md#headers` is `/docs/webhooks#headers`. */
export function hrefOf(link: string): string {
  const [, name, hash = ''] = /^([\w./-]+)(#.*)?$/.exec(link) ?? [];
  if (!name) return link;
  if (name === 'llms.txt') return '/llms.txt';
  return `/docs/${name.replace(/^index\.md$/, '').replace(/\.md$/, '')}`.replace(/\/$/, '') + hash;
}

/** The anchor of each heading. A text that a page has twice takes the section's before it. */
function headingsOf(tokens: readonly MarkedToken[]): Heading[] {
  const found = tokens.filter((token) => token.type === 'heading');
  let section = '';
  return found.map(({ depth, tokens: inside }) => {
    const text = plainText(inside);
    const slug = slugOf(text);
    const isTwice = found.filter((other) => slugOf(plainText(other.tokens)) === slug).length > 1;
    const id = depth > 2 && isTwice ? `${section}-${slug}` : slug;
    if (depth === 2) section = slug;
    return { depth, id, text };
  });
}

const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .trim()
    .replaceAll(' ', '-');

export const plainText = (tokens: readonly Token[]): string =>
  (tokens as Tokens.Generic[]).map((token) => (token.tokens ? plainText(token.tokens) : (token.text ?? ' '))).join('');
