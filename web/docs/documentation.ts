import { gzipSync } from 'node:zlib';
import type { Config } from '../../shared/base/config.ts';
import { sha256 } from '../../shared/base/ids.ts';
import { listenName, readListenFile } from '../kit/assets.ts';
import { renderDocPage } from './doc-page.tsx';
import {
  type DocPage,
  docPage,
  namesOfPages,
  type Operations,
  type PageNames,
  readDocFiles,
  readPages,
  sections,
  shortTitles,
  versionsOf,
  withBaseUrl,
  withPagesBelow,
} from './docs-pages.ts';
import type { Audience } from './error-answers.ts';
import { parseMarkdown } from './markdown.ts';
import { openApiDocument } from './openapi.ts';
import type { OpenApiDocument } from './openapi-types.ts';
import { postmanCollection } from './postman.ts';
import { driversReference, partnersReference } from './reference.ts';

/** A file of the documentation, ready to send. */
interface DocAnswer {
  type: string;
  body: string;
  gzip: Buffer;
  hash: string;
}

export interface Documentation {
  openApi: Readonly<Record<Audience, OpenApiDocument>>;
  pages: readonly DocPage[];
  names: PageNames;
  /** Every path that `answerTo` knows. */
  paths: readonly string[];
  /** The response to a path such as `/docs/webhooks`, `/docs/webhooks.md`, `/docs/openapi.json` or `/llms.txt`. */
  answerTo(path: string): DocAnswer | undefined;
}

/** Describes the operations, reads `docs/` and puts the service's own address into it. A page is rendered at its first request. */
export function documentation(
  operations: Operations,
  { publicBaseUrl }: Pick<Config, 'publicBaseUrl'>,
  readListen = readListenFile,
): Documentation {
  const listenFile = withBaseUrl(readListen(), publicBaseUrl);
  const names = namesOfPages(operations);
  const written = readPages(names.all);
  const verifiers = readDocFiles();
  const [newest] = versionsOf(written.find(({ name }) => name === 'changelog')?.text ?? '');
  if (!newest) throw new Error('docs/changelog.md needs an entry');
  // The reference shows the values of an enum in each field that has them.
  const shown = {
    partner: openApiDocument(operations, 'partner', newest.version, 'inline'),
    driver: openApiDocument(operations, 'driver', newest.version, 'inline'),
  };
  const generated = [...partnersReference(shown.partner), ...driversReference(shown.driver)];
  const byName = new Map(
    [...written, ...generated.map(([name, text]) => docPage(name, text))].map((page) => [page.name, page]),
  );
  const pages = names.all.map((name) => {
    const page = byName.get(name);
    if (!page) throw new Error(`docs/${name}.md is missing`);
    return docPage(
      name,
      withBaseUrl(page.text, publicBaseUrl).replace('SHA256_OF_LISTEN', () => sha256(listenFile)),
    );
  });
  const jsonText = (value: object) => withBaseUrl(JSON.stringify(value, null, 2), publicBaseUrl);
  const openApiTexts = {
    partner: jsonText(openApiDocument(operations, 'partner', newest.version)),
    driver: jsonText(openApiDocument(operations, 'driver', newest.version)),
  };
  const titles = new Map(pages.map(({ name, title }) => [name, shortTitles[name] ?? title]));

  const render = new Map<string, () => DocContent>([
    ['/docs/openapi.json', () => json(openApiTexts.partner)],
    ['/docs/drivers-openapi.json', () => json(openApiTexts.driver)],
    ['/docs/postman.json', () => json(jsonText(postmanCollection(shown.partner)))],
    ['/docs/drivers-postman.json', () => json(jsonText(postmanCollection(shown.driver)))],
    ['/llms.txt', () => text(llmsText(pages, names.below, publicBaseUrl))],
    ['/docs/llms.txt', () => text(llmsText(pages, names.below, publicBaseUrl))],
  ]);
  for (const page of pages) {
    const html = () => htmlContent(renderDocPage({ page, parsed: parseMarkdown(page.text), titles, names }));
    render.set(page.name === 'index' ? '/docs' : `/docs/${page.name}`, html);
    render.set(`/docs/${page.name}.md`, () => ({ type: 'text/markdown; charset=utf-8', body: page.text }));
  }
  render.set(`/docs/${listenName}`, () => text(listenFile));
  for (const { name, text: source } of verifiers) render.set(`/docs/${name}`, () => text(source));

  const rendered = new Map<string, DocAnswer>();
  return {
    openApi: { partner: JSON.parse(openApiTexts.partner), driver: JSON.parse(openApiTexts.driver) },
    pages,
    names,
    paths: [...render.keys()],
    answerTo(path) {
      const content = rendered.has(path) ? undefined : render.get(path)?.();
      if (content) rendered.set(path, compress(content));
      return rendered.get(path);
    },
  };
}

type DocContent = Pick<DocAnswer, 'type' | 'body'>;

const compress = (content: DocContent): DocAnswer => ({
  ...content,
  gzip: gzipSync(content.body),
  hash: sha256(content.body).slice(0, 24),
});

const text = (body: string): DocContent => ({ type: 'text/plain; charset=utf-8', body });
const json = (body: string): DocContent => ({ type: 'application/json; charset=utf-8', body });
const htmlContent = (body: string): DocContent => ({ type: 'text/html; charset=utf-8', body });

/** The list of pages for language models (llmstxt.org). */
function llmsText(pages: readonly DocPage[], below: PageNames['below'], publicBaseUrl: string): string {
  const byName = new Map(pages.map((page) => [page.name, page]));
  const line = (name: string) => {
    const page = byName.get(name) as DocPage;
    return `- [${page.title}](${publicBaseUrl}/docs/${name}.md): ${page.summary}`;
  };
  return [
    '# Ride Partner API',
    `> ${byName.get('index')?.summary}`,
    ...sections.flatMap(({ title, names }) => [
      `## ${title}`,
      names
        .flatMap((name) => withPagesBelow(name, below))
        .map(line)
        .join('\n'),
    ]),
    '## Machine-readable',
    [
      `- [OpenAPI 3.1 document](${publicBaseUrl}/docs/openapi.json): every operation, field, error and event for partners.`,
      `- [OpenAPI 3.1 document for drivers](${publicBaseUrl}/docs/drivers-openapi.json): the same for drivers.`,
      `- Postman collections, [for partners](${publicBaseUrl}/docs/postman.json) and [for drivers](${publicBaseUrl}/docs/drivers-postman.json).`,
    ].join('\n'),
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n');
}
