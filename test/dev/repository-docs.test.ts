import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { lexer, type Tokens } from 'marked';
import { settingsPage } from '../../dev/docs/settings-page.ts';
import { settingTopics } from '../../shared/base/settings.ts';
import { parseMarkdown } from '../../web/docs/markdown.ts';
import { usePartner, useTestApi } from '../support/service.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** The documents that are not served under /docs. */
const documents = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs/architecture.md', 'docs/contributing.md'],
  ...['docs/operations.md', 'docs/scale.md', 'docs/settings.md', 'test/bench/README.md', 'test/faults/README.md'],
  'test/production/README.md',
];

/** The anchors of a document: its headings, and those that are set in its text. */
function anchorsOf(file: string): string[] {
  const text = read(file);
  const set = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
  return [...parseMarkdown(text).headings.map(({ id }) => id), ...set];
}

const codeBlocks = (file: string): Tokens.Code[] =>
  lexer(read(file)).filter((token) => token.type === 'code') as Tokens.Code[];

const commandBlocks = (file: string): string[] =>
  codeBlocks(file).flatMap(({ lang, text }) => (lang?.split(' ')[0] === 'sh' ? text : []));

/** The words that curl gets from a shell. */
async function wordsOf(command: string, variables: NodeJS.ProcessEnv): Promise<string[]> {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  const { stdout } = await run('bash', ['-euc', script], { env: { ...process.env, ...variables } });
  return stdout.split('\0').slice(0, -1);
}

describe('the README', () => {
  const api = useTestApi();
  const partner = usePartner(api);

  it('README.md has at most 150 lines', () => {
    expect(read('README.md').trimEnd().split('\n')).to.have.length.at.most(150);
  });

  it('the commands in README.md create an .env that only its owner can read, and keep one that exists', async () => {
    const [block = ''] = commandBlocks('README.md').filter((text) => text.includes('.env.example'));
    const folder = mkdtempSync(path.join(tmpdir(), 'readme-'));
    const file = path.join(folder, '.env');
    try {
      copyFileSync(path.join(root, '.env.example'), path.join(folder, '.env.example'));
      const install = () => run('bash', ['-euc', `umask 022\n${block}`], { cwd: folder });
      await install();
      const settings = readFileSync(file, 'utf8');
      expect(settings).to.match(/^SECRETS_KEY=\S{44}$/m);
      await install();
      expect(readFileSync(file, 'utf8')).to.equal(settings);
      expect(statSync(file).mode & 0o777).to.equal(0o600);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('the curl command in README.md creates a ride', async () => {
    const [block = ''] = commandBlocks('README.md').filter((text) => text.includes('curl'));
    const [, url = '', ...words] = await wordsOf(block.slice(block.indexOf('curl')), { KEY: partner.key });
    expect(url).to.equal('http://127.0.0.1:4100/v1/rides');
    const valuesOf = (option: string) => words.filter((_, index) => words[index - 1] === option);
    const headers = valuesOf('-H').map((header) => header.split(': ') as [string, string]);
    const answer = await fetch(`${api.url}/v1/rides`, { method: 'POST', headers, body: valuesOf('-d')[0] });
    expect(answer.status).to.equal(201);
    expect(await answer.json()).to.include.keys('rideId', 'trackUrl');
  });
});

describe('the page of settings', () => {
  it('docs/settings.md is the text that npm run docs:settings writes', () => {
    expect(read('docs/settings.md')).to.equal(settingsPage());
  });

  it('docs/settings.md describes every setting', () => {
    const described = Object.values(settingTopics).flatMap((settings) =>
      Object.entries(settings).map(([name, setting]) => [name, setting.describe().flags]),
    );
    expect(described).to.have.length.above(40);
    for (const [name, flags] of described) expect(flags, `${name}`).to.have.property('description');
  });
});

const folders = ['api', 'cli', 'deploy', 'dev', 'docs', 'shared', 'test', 'web', 'workers'];
const files = folders.flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `/${folder}/${file}`),
);
const isEndOfFile = (name: string): boolean => files.some((file) => file.endsWith(`/${name}`));

describe('documents for operators and contributors', () => {
  for (const file of documents) {
    it(`${file} links only to files and anchors that exist`, () => {
      for (const [, link = ''] of read(file).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(link)) continue;
        const [name = '', anchor] = link.split('#');
        const target = name ? path.join(path.dirname(file), name) : file;
        expect(existsSync(path.join(root, target)), `${link} in ${file}`).to.equal(true);
        if (anchor) expect(anchorsOf(target), `${link} in ${file}`).to.include(anchor);
      }
    });

    it(`${file} has only command blocks that bash and zsh accept as a whole`, async () => {
      for (const block of commandBlocks(file)) {
        await run('bash', ['-n', '-c', block]);
        // An interactive zsh does not accept comments.
        expect(block, file).not.to.match(/(^|\s)#/);
      }
    });

    it(`${file} names only npm scripts that exist`, () => {
      const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
      for (const [, name = ''] of read(file).matchAll(/\bnpm run (?:-s )?([\w:-]+)/g)) {
        expect(scripts, file).to.have.property(name);
      }
    });

    it(`${file} names only files and folders that exist`, () => {
      const examples = ['test/api/withdrawn-offer.test.ts', 'test/browser/shots/', 'docs/NAME.md'];
      for (const [, name = ''] of read(file).matchAll(/`((?:[\w-]+\/)*[\w.-]+\.tsx?|[\w-]+\/[\w./-]*)`/g)) {
        const [top = ''] = name.split('/');
        // A file's name may leave out the folders that the text has named before.
        const isThere =
          name.endsWith('/') || folders.includes(top) ? existsSync(path.join(root, name)) : isEndOfFile(name);
        if (folders.includes(top) || /\.tsx?$/.test(name)) {
          expect(isThere || examples.includes(name), `${name} in ${file}`).to.equal(true);
        }
      }
    });
  }
});
