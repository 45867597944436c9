import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';

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

/** The info string of a code block: `ts file=receiver.ts` shows the file's name. */
interface BlockInfo {
  language: string;
  /** `run`, `given`, `output` and so on. The tests of the documentation use the block accordingly. */
  mark: string;
  file?: string;
  /** The label of a block that is shown collapsed. */
  fold?: string;
  /** `ts` or `python`, if the block is only for readers who use that language. */
  reader?: string;
  /** The tab of a sample. Adjacent blocks with tabs are shown one at a time. */
  tab?: string;
}

export function blockInfo(info = ''): BlockInfo {
  const [language = '', ...words] = info.split(' ');
  const values = new Map(words.map((word) => [word.replace(/=.*/, ''), word.replace(/^[^=]*=?/, '')]));
  const mark = words.find((word) => !word.startsWith('fold='))?.replace(/=.*/, '') ?? '';
  return {
    language,
    mark,
    file: values.get('file'),
    fold: values.get('fold'),
    reader: values.get('for'),
    tab: values.get('tab'),
  };
}

/** The address of a link in a page: `webhooks.md#headers` becomes `/docs/webhooks#headers`. */
export function hrefOf(link: string): string {
  const [, name, hash = ''] = /^([\w./-]+)(#.*)?$/.exec(link) ?? [];
  if (!name) return link;
  if (name === 'llms.txt') return '/llms.txt';
  return `/docs/${name.replace(/^index\.md$/, '').replace(/\.md$/, '')}`.replace(/\/$/, '') + hash;
}

/** Sets the anchor of each heading. If a page has a text twice, its anchor starts with the anchor of its section. */
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

/** The anchor of a text. */
export const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .trim()
    .replaceAll(' ', '-');

export const plainText = (tokens: readonly Token[]): string =>
  (tokens as Tokens.Generic[]).map((token) => (token.tokens ? plainText(token.tokens) : (token.text ?? ' '))).join('');

/** A text as code, in Markdown. */
export const code = (text: string): string => `\`${text}\``;

/** A table in Markdown. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(inCell).join(' | ')} |`).join('\n');

const inCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
