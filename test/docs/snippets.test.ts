import { expect } from 'chai';
import { freePort } from '../../dev/servers/ports.ts';
import { createDriver } from '../../shared/drivers/manage-drivers.ts';
import { blockInfo } from '../../web/docs/markdown.ts';
import { docs } from '../support/documented.ts';
import { person } from '../support/drivers.ts';
import { scaled } from '../support/machine-speed.ts';
import { useTestService } from '../support/workers.ts';
import { installLanguages } from './install-languages.ts';
import { codeBlocksOf, compileStrictly, compileWith, PageRun } from './page-run.ts';

describe('the code of a documentation page', () => {
  let receiverPort: number;
  const api = useTestService(async () => {
    const port = await freePort();
    receiverPort = await freePort();
    return {
      PORT: String(port),
      // The pages show the address at which they are served.
      PUBLIC_BASE_URL: `http://127.0.0.1:${port}`,
      WEBHOOK_LOCAL_TARGETS: `http://127.0.0.1:${receiverPort}`,
      SIMULATION_SPEED: '4',
    };
  });

  let missing: string[];
  before(async function () {
    this.timeout(scaled(600_000));
    missing = await installLanguages();
  });

  /**
   * The number of blocks that each page must have to run, so that the test fails if its search for blocks is broken.
   */
  const runs: Readonly<Record<string, number>> = {
    'quick-start': 9,
    authentication: 3,
    'test-mode': 4,
    errors: 1,
    webhooks: 5,
    rides: 6,
    messages: 1,
    fares: 6,
    'typed-client': 2,
    drivers: 7,
  };
  /** Pages with blocks for the readers of each language. Such a page is followed once in each. */
  const languages: Readonly<Record<string, readonly string[]>> = {
    'quick-start': ['ts', 'python'],
    webhooks: ['ts', 'python'],
    rides: ['ts', 'python'],
  };

  const pageText = async (name: string) => (await fetch(`${api.url}/docs/${name}.md`)).text();

  /** A reader of a page, with their own keys. Real drivers see only the rides of live keys. */
  async function newRun(name: string): Promise<PageRun> {
    const { key, signingSecret } = await api.key(name === 'drivers' ? 'live' : 'test');
    const { key: driverKey } = await createDriver(person);
    return new PageRun(name, {
      KEY: key,
      DRIVER: driverKey,
      SECRET: signingSecret,
      PORT: String(receiverPort),
      RECEIVER: `http://127.0.0.1:${receiverPort}`,
    });
  }

  for (const name of docs.names.all) {
    const count = runs[name];
    if (count === undefined) {
      it(`this page has no code to run: ${name}`, async () => {
        // `samples.test.ts` runs the samples in tabs. The examples of the client libraries are not run: test/clients tests the packages. An
        // answer on such a page is an example; the tests of the pages compare it with its schema.
        expect(await pageText(name)).not.to.match(/^```(sh (?!example)|\w+ file=\S+$)/m);
      });
      continue;
    }
    for (const language of languages[name] ?? [undefined]) {
      it(`the code works as the page shows it: ${[name, language].filter(Boolean).join(', ')}`, async function () {
        this.timeout(scaled(300_000));
        // A language that is missing and cannot be installed leaves its test pending, which .ci/run counts as failed.
        if (language === 'python' && missing.includes('python3')) this.skip();
        const markdown = await pageText(name);
        const readers = codeBlocksOf(markdown).flatMap(({ lang }) => blockInfo(lang).reader ?? []);
        expect([...new Set(readers)]).to.have.members(languages[name] ?? []);

        const page = await newRun(language ? `${name}-${language}` : name);
        const marks = await page.follow(markdown, language);
        expect(marks.filter((mark) => mark === 'run')).to.have.length(count);
        if (page.files.length > 0) await compileStrictly(page.files);
        const tsconfig = codeBlocksOf(markdown).find(({ text }) => text.includes('"compilerOptions"'));
        expect(tsconfig !== undefined, 'the typed client has a tsconfig').to.equal(name === 'typed-client');
        if (tsconfig) await compileWith(tsconfig.text, page.files);
      });
    }
  }
});
