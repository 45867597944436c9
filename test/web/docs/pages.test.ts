import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { lexer, type Tokens } from 'marked';
import { driverOperations } from '../../../api/drivers/routes.ts';
import { partnerOperations } from '../../../api/partner/routes.ts';
import { warnings } from '../../../api/partner/warnings.ts';
import { generatedFiles } from '../../../dev/clients/generated-files.ts';
import { type ErrorCode, errorCodes, publicErrorOf } from '../../../shared/base/errors.ts';
import { settings } from '../../../shared/base/settings.ts';
import { sentEventSchemas } from '../../../shared/rides/event-schemas.ts';
import { testScenarios } from '../../../shared/rides/ride-types.ts';
import { checkGivenTarget } from '../../../shared/targets/given-target.ts';
import { failureReasons } from '../../../shared/webhooks/failure-reasons.ts';
import { readDocFiles, versionsOf } from '../../../web/docs/docs-pages.ts';
import { errorAnswers } from '../../../web/docs/error-answers.ts';
import { blockInfo, hrefOf, parseMarkdown } from '../../../web/docs/markdown.ts';
import { docs, docText, documentedSchemas, openApiDocuments, schemaProblem } from '../../support/documented.ts';
import { rawRequest, requestText } from '../../support/raw-http.ts';
import { useTestApi } from '../../support/service.ts';

/** A row of a table of errors: the status (for a conflict, the operation), the code and the text. */
const errorRow = /^\| (?:(\d{3})|[^|`]+) \| `(\w+)` \| `([^`]+)`/gm;
const codeBlocks = (text: string) => lexer(text).filter((token) => token.type === 'code') as Tokens.Code[];

describe('documentation', () => {
  const api = useTestApi({ PUBLIC_BASE_URL: 'https://api.partner.example' });

  const ask = (target: string, init?: RequestInit) => fetch(api.url + target, { redirect: 'manual', ...init });
  const htmlPath = (name: string) => (name === 'index' ? '/docs' : `/docs/${name}`);

  for (const name of docs.names.all) {
    it(`${name} is served as a page and as Markdown, with the service's own address`, async () => {
      const page = await ask(htmlPath(name));
      const html = await page.text();
      expect(page.status).to.equal(200);
      expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(html).to.match(/^<!doctype html><html lang="en">/);
      // The strict policy for pages: nothing inline.
      expect(page.headers.get('content-security-policy')).to.include("script-src 'self'");
      const withoutFiles = html.replace(/<script type="module" src="[^"]+"><\/script>/g, '');
      expect(withoutFiles).not.to.match(/<script|<style|\sstyle=|\son[a-z]+=/);
      expect(html).not.to.include('https://rides.example');
      expect(html.match(/<h1>/g)).to.have.length(1);

      const markdown = await ask(`/docs/${name}.md`);
      const text = await markdown.text();
      expect(markdown.status).to.equal(200);
      expect(markdown.headers.get('content-type')).to.equal('text/markdown; charset=utf-8');
      expect(text).to.match(/^# /);
      expect(text).not.to.include('https://rides.example');
    });
  }

  it('every Markdown file in docs/ is a page, except those for operators and maintainers', () => {
    const files = readdirSync(path.resolve(import.meta.dirname, '../../../docs')).filter((file) =>
      file.endsWith('.md'),
    );
    const others = ['operations.md', 'scale.md', 'settings.md', 'contributing.md', 'architecture.md', 'contract.md'];
    expect([
      ...files.filter((file) => !others.includes(file)).map((file) => file.slice(0, -3)),
      ...docs.names.generated,
    ]).to.have.members([...docs.names.all]);
  });

  for (const name of ['openapi', 'drivers-openapi', 'postman', 'drivers-postman']) {
    it(`serves ${name}.json with the service's own address`, async () => {
      const answer = await ask(`/docs/${name}.json`);
      expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8');
      const { servers, variable } = await answer.json();
      expect(servers?.[0].url ?? variable[0].value).to.equal('https://api.partner.example');
      expect(await (await ask(`/docs/${name}.json`)).text()).not.to.include('rides.example');
    });
  }

  it("listen.mjs reads the service's own address by default, and its checksum is that of the file with this address", async () => {
    const program = await (await ask('/docs/listen.mjs')).text();
    expect(program).to.include('"https://api.partner.example"').and.not.include('https://rides.example');
    const sum = createHash('sha256').update(program).digest('hex');
    expect(await (await ask('/docs/webhooks.md')).text()).to.include(`\`${sum}\``);
  });

  it("the clients' types are those of the OpenAPI document: otherwise, run npm run clients:types", () => {
    for (const [file, text] of Object.entries(generatedFiles())) {
      expect(readFileSync(path.resolve(import.meta.dirname, '../../..', file), 'utf8')).to.equal(text);
    }
  });

  it('llms.txt lists every page of the documentation', async () => {
    const text = await (await ask('/llms.txt')).text();
    expect(await (await ask('/docs/llms.txt')).text()).to.equal(text);
    for (const name of docs.names.all) expect(text).to.include(`(https://api.partner.example/docs/${name}.md): `);
    for (const name of ['openapi', 'drivers-openapi', 'postman', 'drivers-postman']) {
      expect(text).to.include(`https://api.partner.example/docs/${name}.json`);
    }
  });

  it('each signature verifier and example is served as a file', async () => {
    for (const { name, text } of readDocFiles()) expect(await (await ask(`/docs/${name}`)).text()).to.equal(text);
  });

  it('a conditional request for a current copy of a page answers 304', async () => {
    const first = await ask('/docs');
    // Does not use fetch, because fetch adds `Cache-Control: no-cache`.
    const headers = ['Host: x', `If-None-Match: ${first.headers.get('etag')}`, 'Connection: close'];
    expect((await rawRequest(api.url, requestText(['GET /docs HTTP/1.1', ...headers]))).status).to.equal(304);
    expect(first.headers.get('cache-control')).to.equal('no-cache');
    const plain = await ask('/docs', { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).to.equal(null);
    expect(await plain.text()).to.equal(await first.text());
  });

  it('the documentation answers 404 to an unknown path and 405 to another method', async () => {
    for (const target of [
      '/docs/nothing',
      '/docs/../package.json',
      '/docs/verify',
      '/docs/index.html',
      '/docs/%2e%2e/x',
    ]) {
      const answer = await ask(target);
      expect(answer.status, target).to.equal(404);
    }
    const posted = await ask('/docs', { method: 'POST' });
    expect(posted.status).to.equal(405);
    expect(posted.headers.get('allow')).to.equal('GET, HEAD');
    const head = await ask('/docs/errors', { method: 'HEAD' });
    expect(head.status).to.equal(200);
    expect(await head.text()).to.equal('');
  });

  it('every link and anchor of the documentation exists', async () => {
    const anchors = new Set<string>();
    for (const { name, text } of docs.pages) {
      anchors.add(htmlPath(name));
      for (const { id } of parseMarkdown(text).headings) anchors.add(`${htmlPath(name)}#${id}`);
    }
    const machineReadable = docs.paths.filter((file) => file.endsWith('.json'));
    const files = [
      ...machineReadable,
      '/llms.txt',
      '/docs/listen.mjs',
      ...readDocFiles().map(({ name }) => `/docs/${name}`),
    ];
    for (const file of files) anchors.add(file);
    const dashboard = new Set<string>();
    for (const { name, text } of docs.pages) {
      for (const [, link = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(link) && !link.startsWith('https://rides.example')) continue;
        const href = hrefOf(link).replace(/^#/, `${htmlPath(name)}#`);
        const target = href.replace('https://rides.example', '');
        if (target.startsWith('/dashboard')) dashboard.add(target);
        else expect([...anchors], `${link} on ${name}`).to.include(target);
      }
    }
    expect(dashboard.size).to.be.above(3);
    for (const target of dashboard) {
      const { status } = await ask(target, { headers: { 'sec-fetch-site': 'same-origin' } });
      expect(status, target).to.be.oneOf([200, 303]);
    }
  });

  it('docs/contract.md has valid links, and mentions no decisions and no settings', () => {
    const contract = readFileSync(path.resolve(import.meta.dirname, '../../../docs/contract.md'), 'utf8');
    const anchors = parseMarkdown(contract).headings.map(({ id }) => `#${id}`);
    for (const [, link = ''] of contract.matchAll(/\]\(([^)\s]+)\)/g)) {
      expect([...anchors, ...docs.names.all.map((name) => `${name}.md`)]).to.include(link);
    }
    expect(contract).not.to.include('Decided');
    const names = Object.keys(settings.describe().keys).filter((name) => name.includes('_'));
    expect(names).to.have.length.above(20);
    for (const name of names) expect(contract).not.to.include(name);
  });

  it('docs/contract.md has each field of a retrieved ride, the text of each 409 and each warning', () => {
    const contract = readFileSync(path.resolve(import.meta.dirname, '../../../docs/contract.md'), 'utf8');
    const [, ride = ''] = /\n### 2.1 Ride\n(.*?)\n### /s.exec(contract) ?? [];
    for (const field of Object.keys(documentedSchemas.Ride?.properties ?? {})) expect(ride).to.include(`\`${field}\``);
    const [, errors = ''] = /\nEvery 409, by its text:\n(.*?)\n## /s.exec(contract) ?? [];
    for (const { status, text } of partnerOperations.flatMap((operation) => operation.errors.map(publicErrorOf))) {
      if (status === 409) expect(errors).to.include(`\`${text}\``);
    }
    for (const code of Object.keys(warnings)) expect(contract).to.include(`\`${code}\``);
  });

  it("the drivers' guide has each route of the gateway and each field of a request and a ride", () => {
    const [table = '', ...sections] = docText('drivers').split('\n## ');
    for (const { path: route } of driverOperations) expect(table).to.match(new RegExp(`[\` ]${route}[\`?]`));
    for (const [section, schema] of [
      ['Requests', 'DriverRequest'],
      ['The ride', 'DriverRide'],
    ] as const) {
      const text = sections.find((each) => each.startsWith(`${section}\n`)) ?? '';
      const { properties = {}, required = [] } = documentedSchemas[schema] ?? {};
      for (const field of Object.keys(properties)) {
        expect(text).to.match(new RegExp(`[{,\\s]${field}${required.includes(field) ? '' : '\\?'}[,\\s]`));
      }
    }
  });

  it('the headings of each page are different', () => {
    for (const { name, text } of docs.pages) {
      const ids = parseMarkdown(text).headings.map(({ id }) => id);
      expect(new Set(ids).size, name).to.equal(ids.length);
    }
  });

  it('no line of a code block in the documentation is wider than the page column', () => {
    for (const { name, text } of docs.pages) {
      for (const block of codeBlocks(text)) {
        for (const line of block.text.split('\n')) expect(line.length, `${name}: ${line}`).to.be.at.most(92);
      }
    }
  });

  it('each code block has a mark that says how tests use it', () => {
    const marks = ['run', 'background', 'given', 'install', 'output', 'example', 'answer', 'schema', 'event', 'file'];
    for (const { name, text } of docs.pages) {
      for (const block of codeBlocks(text)) {
        const { mark } = blockInfo(block.lang);
        expect(marks, `${name}: \`\`\`${block.lang}`).to.include(mark);
      }
    }
  });

  it('the JSON in the documentation matches its schemas', () => {
    let count = 0;
    for (const { name, text } of docs.pages) {
      for (const block of codeBlocks(text).filter(({ lang }) => lang?.startsWith('json'))) {
        const [, kind, schema = ''] = /^json (answer|schema|event)=(\S+)$/.exec(block.lang ?? '') ?? [];
        const title = kind === 'event' ? sentEventSchemas[schema as keyof typeof sentEventSchemas].title : schema;
        expect(schemaProblem(title as string, JSON.parse(block.text)), name).to.equal(undefined);
        count += 1;
      }
    }
    expect(count).to.be.above(15);
  });

  it('the documentation explains every delivery failure with the same remedy as the dashboard', () => {
    const [, section = ''] = /^## Why an event did not arrive$([\s\S]*?)^## /m.exec(docText('webhooks')) ?? [];
    const rows = [...section.matchAll(/^\| (.+?) \| (.+) \|$/gm)].map(([, name, remedy]) => [name, remedy]);
    expect(rows.slice(1)).to.deep.equal(Object.values(failureReasons));
  });

  it('the quick start names the command with which webhooks of a development stack need no tunnel', () => {
    const development = { environment: 'development', webhookLocalTargets: [] } as const;
    const hint = checkGivenTarget(development, 'http://127.0.0.1:4000/events') ?? '';
    const [, command = ''] = /: (WEBHOOK_LOCAL_TARGETS=http:\S+ npm run dev)$/.exec(hint) ?? [];
    expect(command).not.to.equal('');
    expect(docText('quick-start')).to.include(`\`${command}\``).and.to.include('`npm run listen`');
  });

  it('the documentation explains every error with its status, code and text', () => {
    const ofDrivers = new Set<ErrorCode>(driverOperations.flatMap(({ errors }) => errors));
    for (const code of partnerOperations.flatMap(({ errors }) => errors)) ofDrivers.delete(code);
    for (const code of Object.keys(errorAnswers) as ErrorCode[]) {
      const { status, text } = publicErrorOf(code);
      const page = docText(ofDrivers.has(code) ? 'drivers' : 'errors');
      if (status === 400) expect(page).to.include(`| 400 | \`${code}\` |`);
      else if (status === 409) expect(page).to.match(new RegExp(`^\\| .+ \\| \`${code}\` \\| \`${text}\` \\|`, 'm'));
      else expect(page).to.include(`| ${status} | \`${code}\` | \`${text}\` |`);
    }
  });

  it('the tables of errors contain only existing codes, each with its own status and text', () => {
    const rows = ['errors', 'drivers'].flatMap((name) => [...docText(name).matchAll(errorRow)]);
    expect(rows).to.have.length.above(30);
    for (const [row, status, code = '', text] of rows) {
      expect(errorCodes, row).to.include(code);
      const known = publicErrorOf(code as ErrorCode);
      expect(known.code, row).to.equal(code);
      expect(Number(status) || 409, row).to.equal(known.status);
      if (known.status !== 400) expect(text, row).to.equal(known.text);
    }
  });

  it('the documentation explains every scenario of test mode', () => {
    const [scenarios = ''] = docText('test-mode').split('\n## Warnings\n');
    const rows = [...scenarios.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(rows).to.deep.equal([...testScenarios]);
  });

  it('the documentation explains every warning of test mode with the text of the code', () => {
    const [, section = ''] = docText('test-mode').split('\n## Warnings\n');
    const rows = [...section.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, code, about]) => [code, about]);
    expect(rows).to.deep.equal(Object.entries(warnings));
  });

  const versions = versionsOf(docText('changelog'));

  it('the changelog has a dated entry for each version, the newest first', () => {
    const headings = parseMarkdown(docText('changelog')).headings.filter(({ depth }) => depth === 2);
    expect(versions).to.have.length(headings.length);
    const numbers = versions.map(({ version }) =>
      version
        .split('.')
        .map((part) => part.padStart(4, '0'))
        .join('.'),
    );
    expect(numbers).to.deep.equal(numbers.toSorted().toReversed());
    expect(new Set(numbers).size).to.equal(numbers.length);
    const dates = versions.map(({ date }) => date);
    expect(dates).to.deep.equal(dates.toSorted().toReversed());
    for (const date of dates) expect(new Date(date).toISOString().slice(0, 10)).to.equal(date);
  });

  it('the newest entry of the changelog has the hash of the OpenAPI documents', () => {
    for (const { info } of openApiDocuments) expect(info.version).to.equal(versions[0]?.version);
    const contract = hashOf(openApiDocuments.map(({ info: _info, ...promises }) => promises));
    expect(
      versions[0]?.contract,
      `The OpenAPI documents have changed: give docs/changelog.md a new version, with <!-- contract: ${contract} -->`,
    ).to.equal(contract);
  });

  /** The hash of the documents without the texts that only people read. */
  function hashOf(promises: readonly object[]): string {
    const texts = ['description', 'summary', 'example', 'examples'];
    const json = JSON.stringify(promises, (key, value) =>
      texts.includes(key) && (typeof value !== 'object' || key.startsWith('example')) ? undefined : value,
    );
    return createHash('sha256').update(json).digest('hex').slice(0, 12);
  }
});
