import { expect } from 'chai';
import { lexer, type Tokens } from 'marked';
import MiniSearch from 'minisearch';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { needs as allNeeds } from '../../../shared/base/terms.ts';
import { eventPageName, operationPageName } from '../../../web/docs/docs-pages.ts';
import { Highlighted } from '../../../web/docs/highlight.tsx';
import { blockInfo } from '../../../web/docs/markdown.ts';
import { searchOptions } from '../../../web/docs/search-options.ts';
import { assetUrl } from '../../../web/kit/assets.ts';
import { codeBlocksOf } from '../../docs/page-run.ts';
import { docs, docText, fieldsOf, openApi, openApiDocuments } from '../../support/documented.ts';
import { useTestApi } from '../../support/service.ts';

describe('the generated reference', () => {
  const api = useTestApi();

  it('each operation and each event of the OpenAPI document has a page, which its overview names', () => {
    for (const [target, methods] of openApiDocuments.flatMap(({ paths }) => Object.entries(paths))) {
      const isDrivers = target.startsWith('/drivers/');
      for (const [method, { operationId, summary, requestBody, responses }] of Object.entries(methods)) {
        const name = operationPageName(isDrivers ? 'driver' : 'partner', operationId);
        const endpoint = `\`${method.toUpperCase()} ${target}\``;
        const overview = docText(isDrivers ? 'drivers-reference' : 'reference');
        expect(overview).to.include(`| [${summary}](${name}.md) | ${endpoint} |`);
        const page = docText(name);
        expect(page).to.include(`# ${summary}\n`).and.to.include(`\n${endpoint}\n`);
        for (const status of Object.keys(responses)) expect(page + overview).to.include(status);
        const schema = requestBody?.content['application/json'].schema;
        for (const field of schema ? fieldsOf(schema) : []) expect(page).to.include(`| \`${field}\` |`);
      }
    }
    for (const event of Object.keys(openApi.partner.webhooks)) {
      expect(docText('reference')).to.include(`| [\`${event}\`](${eventPageName(event)}.md) |`);
      expect(docText(eventPageName(event))).to.include(`# ${event}\n`);
    }
  });

  it('each page of an operation has no empty table and no empty cell', () => {
    for (const name of docs.names.generated) {
      const tables = lexer(docText(name)).filter((token) => token.type === 'table') as Tokens.Table[];
      for (const { rows } of tables) {
        expect(rows, name).not.to.be.empty;
        for (const row of rows) for (const { text } of row) expect(text, `${name}: ${row[0]?.text}`).not.to.equal('');
      }
    }
  });

  it('the reference and the guide list every value of `needs`', () => {
    const create = docText(operationPageName('partner', 'createRide'));
    const [row = ''] = /^\| `needs` \|.*$/m.exec(create) ?? [];
    for (const need of allNeeds) {
      expect(row).to.include(`\`${need}\``);
      expect(docText('rides')).to.include(`\n| \`${need}\` | `);
    }
  });

  it('a list with a largest size names this size', () => {
    expect(docText(operationPageName('partner', 'createRide'))).to.match(
      /^\| `notify\.contacts` \|.* At most 3 entries\. \|$/m,
    );
  });

  it('the texts about a cancellation by the driver say that only a new ride is opened to other drivers', () => {
    const driver = docText(operationPageName('driver', 'cancelStep'));
    expect(driver).to.include(
      'If the partner has set `onDriverCancel` to `rebid`, a new ride with another id replaces it',
    );
    const [, guide = ''] = docText('rides').split('\n## If the driver cancels\n');
    expect(guide).to.include('it is not offered to other drivers').and.to.include('`onDriverCancel: "rebid"`');
    for (const { name, text } of docs.pages) expect(text, name).not.to.include('no other driver is asked');
  });

  it('the search index finds the section of a page by its words', async () => {
    const answer = await fetch(api.url + assetUrl('search.json'));
    expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8');
    const index = MiniSearch.loadJSON(await answer.text(), searchOptions);
    expect(index.search('create a ride').map(({ id }) => id)).to.include('/docs/reference/create-ride');
    expect(index.search('idempotency')[0]?.id).to.match(/^\/docs\//);
    expect(index.search('raise the far')[0]?.id).to.equal('/docs/reference/raise-fare');
  });

  it('colours change no character of a block of code', () => {
    for (const { name, text } of docs.pages) {
      for (const block of codeBlocksOf(text)) {
        const { language } = blockInfo(block.lang);
        const html = renderToString(h(Highlighted, { language, text: block.text }));
        expect(html.replace(/<[^>]+>/g, ''), name).to.equal(renderToString(h('p', null, block.text)).slice(3, -4));
      }
    }
  });
});
