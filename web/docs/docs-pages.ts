import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Operation } from '../../shared/base/operation.ts';
import { sentEvents } from '../../shared/base/terms.ts';
import { projectFolder } from '../../shared/base/version.ts';
import type { Audience } from './error-answers.ts';
import { exampleBaseUrl } from './example-base-url.ts';

/** The pages under `/docs`, in sidebar order: files `docs/<name>.md`, or generated from the OpenAPI document. */
export const sections = [
  { title: 'Start', names: ['index', 'quick-start', 'authentication', 'test-mode'] },
  {
    title: 'Build',
    names: [
      'webhooks',
      'rides',
      'messages',
      'fares',
      'errors',
      'limits',
      'client-libraries',
      'typed-client',
      'going-live',
    ],
  },
  { title: 'Reference', names: ['reference', 'changelog'] },
  { title: 'For desks', names: ['desk'] },
  { title: 'For drivers', names: ['drivers', 'drivers-reference'] },
] as const;

/** The page that lists the operations. */
export const overviewPages = { partner: 'reference', driver: 'drivers-reference' } as const satisfies Record<
  Audience,
  string
>;

/** The name of an operation's page, such as `reference/create-ride`. */
export const operationPageName = (audience: Audience, id: string): string =>
  `${overviewPages[audience]}/${kebabCase(id)}`;

/** The name of an event's page, such as `reference/event-offer-received`. */
export const eventPageName = (event: string): string => `reference/event-${event.replace(/[._]/g, '-')}`;

const kebabCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The tables of operations that the reference describes. */
export type Operations = Readonly<Record<Audience, readonly Operation[]>>;

/** The names of the pages. */
export interface PageNames {
  /** The pages of operations and events, by the page that lists them. */
  below: Readonly<Record<string, readonly string[]>>;
  /** The pages that are generated from the OpenAPI document. */
  generated: readonly string[];
  /** All pages, in sidebar order. */
  all: readonly string[];
}

export function namesOfPages({ partner, driver }: Operations): PageNames {
  const below: PageNames['below'] = {
    reference: [...partner.map(({ id }) => operationPageName('partner', id)), ...sentEvents.map(eventPageName)],
    'drivers-reference': driver.map(({ id }) => operationPageName('driver', id)),
  };
  const generated = Object.entries(below).flatMap(([name, pages]) => [name, ...pages]);
  return {
    below,
    generated,
    all: sections.flatMap(({ names }) => names.flatMap((name) => withPagesBelow(name, below))),
  };
}

/** Titles for the sidebar, if a page's own title is too long for it. */
export const shortTitles: Readonly<Record<string, string>> = {
  index: 'Overview',
  drivers: 'Gateway',
  'drivers-reference': 'Reference',
};

export const withPagesBelow = (name: string, below: PageNames['below']): string[] => [name, ...(below[name] ?? [])];

export interface DocPage {
  name: string;
  title: string;
  /** The first paragraph, in Markdown. */
  summary: string;
  /** The whole page, in Markdown. */
  text: string;
}

/** A file that pages show and readers download. */
interface DocFile {
  name: string;
  text: string;
}

const languages: Readonly<Record<string, string>> = {
  ts: 'ts',
  py: 'python',
  php: 'php',
  go: 'go',
  rb: 'ruby',
  java: 'java',
};

const docsFolder = path.join(projectFolder, 'docs');

/** The pages that are files, with the example address. */
export function readPages(names: readonly string[], folder = docsFolder): DocPage[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.md'));
  const texts = new Map(files.map((file) => [file.slice(0, -3), readFileSync(path.join(folder, file), 'utf8')]));
  const written = names.filter((name) => texts.has(name));
  return written.map((name) => docPage(name, withFiles(texts.get(name) as string, readDocFiles(folder))));
}

/** The programs that readers download: the verifiers of the signature, one for each language, and the examples. */
export function readDocFiles(folder = docsFolder): DocFile[] {
  const files = ['verify', 'examples'].flatMap((inside) =>
    readdirSync(path.join(folder, inside)).map((name) => `${inside}/${name}`),
  );
  return files.map((name) => ({ name, text: readFileSync(path.join(folder, name), 'utf8') }));
}

export function docPage(name: string, text: string): DocPage {
  const [, title, summary] = /^# ([^\n]+)\n\n(.+?)\n\n/s.exec(text) ?? [];
  if (!title || !summary) throw new Error(`docs/${name}.md needs a title and a paragraph under it`);
  return { name, title, summary: summary.replaceAll('\n', ' '), text };
}

/** A line that is only a link to a file, `[Python](verify/verify.py)`, becomes the file's text. */
function withFiles(text: string, files: readonly DocFile[]): string {
  return text.replace(/^\[([^\]]+)\]\(((?:verify|examples)\/[^)]+)\)$/gm, (_line, label: string, name: string) => {
    const file = files.find((candidate) => candidate.name === name);
    if (!file) throw new Error(`docs/${name} does not exist`);
    const language = languages[path.extname(name).slice(1)] ?? 'text';
    return `\`\`\`${language} file=${name} fold=${label}\n${file.text.trimEnd()}\n\`\`\``;
  });
}

/** Replaces the example address by the service's own. */
export const withBaseUrl = (text: string, publicBaseUrl: string): string =>
  text.replaceAll(exampleBaseUrl, publicBaseUrl);

/** The versions of the changelog, the newest first. */
export function versionsOf(changelog: string): { version: string; date: string; contract: string }[] {
  const entries = changelog.matchAll(/^## (\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)\n<!-- contract: (\S+) -->$/gm);
  return [...entries].map(([, version = '', date = '', contract = '']) => ({ version, date, contract }));
}
