import { execFile } from 'node:child_process';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { operations } from '../../api/operations.ts';
import { freePort } from '../../dev/servers/ports.ts';
import { documentation } from '../../web/docs/documentation.ts';
import { blockInfo } from '../../web/docs/markdown.ts';
import { useTestApi } from '../support/service.ts';
import { startProgram } from '../support/started-program.ts';
import { codeBlocksOf, compileStrictly } from './page-run.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const folder = path.join(root, '.cache/docs/samples');

/** The languages of the samples: the end of a file's name, and the command that runs a file. */
const languages = {
  curl: { end: 'sh', command: ['bash', '-eu'] },
  TypeScript: { end: 'mts', command: [process.execPath, '--import', 'tsx'] },
  Python: { end: 'py', command: ['python3'] },
} as const;
type Language = keyof typeof languages;

describe('samples of the reference', () => {
  let port: number;
  const api = useTestApi(async () => {
    port = await freePort();
    // The samples name this address.
    return { PORT: String(port), PUBLIC_BASE_URL: `http://127.0.0.1:${port}` };
  });

  let samples: ReadonlyMap<string, Readonly<Record<Language, string>>>;
  before(async () => {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    for (const file of ['verify.ts', 'verify.py'])
      await copyFile(path.join(root, 'docs/verify', file), path.join(folder, file));
    const { pages, names } = documentation(operations, api.ctx.config);
    const withSamples = pages.filter(({ name }) => names.generated.includes(name) && name.includes('/'));
    samples = new Map(
      withSamples.map(({ name, text }) => {
        const blocks = codeBlocksOf(text).map((block) => [blockInfo(block.lang).tab, block.text]);
        return [name, Object.fromEntries(blocks.filter(([tab]) => tab)) as Record<Language, string>];
      }),
    );
  });

  const sampleOf = (name: string, language: Language): string => {
    const text = samples.get(name)?.[language];
    if (!text) throw new Error(`${name} has no sample in ${language}`);
    return text;
  };

  /** Writes the samples of all pages, and returns their files. */
  async function writeAll(language: Language): Promise<string[]> {
    const files = [...samples.keys()].map((name) => `${name.replaceAll('/', '-')}.${languages[language].end}`);
    const texts = [...samples.keys()].map((name) => sampleOf(name, language));
    await Promise.all(files.map((file, index) => writeFile(path.join(folder, file), texts[index] as string)));
    expect(files).to.have.length.above(30);
    return files;
  }

  const fails = (error: { stdout: string; stderr: string }) => {
    throw new Error(`${error.stdout}\n${error.stderr}`);
  };

  it('every sample in TypeScript compiles under strict rules', async () => {
    const files = await writeAll('TypeScript');
    await compileStrictly(files.map((file) => path.join(folder, file)));
  });

  it('every sample in Python compiles', async () => {
    const files = await writeAll('Python');
    await run('python3', ['-m', 'py_compile', ...files], { cwd: folder }).catch(fails);
  });

  it('no sample with curl has an error of syntax', async () => {
    for (const file of await writeAll('curl')) await run('bash', ['-n', file], { cwd: folder }).catch(fails);
  });

  for (const language of Object.keys(languages) as Language[]) {
    it(`the samples in ${language} create a ride, accept an offer, read the events and cancel the ride`, async () => {
      const { key } = await api.key('test');
      let rideId = '';
      let offerId = '';
      const printed = async (name: string) => {
        const text = sampleOf(`reference/${name}`, language)
          .replace(/ride_0Uw4\w+/g, rideId)
          .replace(/offer_5Jt2\w+/g, offerId);
        const file = path.join(folder, `run-${name}.${languages[language].end}`);
        await writeFile(file, text);
        const [command, ...args] = languages[language].command;
        const { stdout } = await run(command, [...args, file], {
          cwd: root,
          env: { ...process.env, KEY: key },
        }).catch(fails);
        expect(stdout, name).not.to.match(/"?error"?:/);
        return stdout;
      };
      const idIn = (text: string, prefix: string) => new RegExp(`${prefix}_\\w+`).exec(text)?.[0] ?? '';

      rideId = idIn(await printed('create-ride'), 'ride');
      expect(await printed('list-rides')).to.include('rides');
      expect(await printed('retrieve-ride'))
        .to.include(rideId)
        .and.to.include('bidding');
      expect(await printed('retrieve-fare-hint')).to.include('sample');
      await printed('raise-fare');
      offerId = idIn(await printed('offer-manually'), 'offer');
      expect(await printed('list-offers')).to.include(offerId);
      expect(await printed('accept-offer')).to.include('driver_arriving');
      expect(await printed('list-ride-events'))
        .to.include('offer.received')
        .and.to.include('ride.status');
      expect(await printed('list-events')).to.include('hasMore');
      expect(await printed('cancel-ride')).to.include('cancelled');
    });
  }

  for (const language of ['TypeScript', 'Python'] as const) {
    it(`the receivers in ${language} verify and print each event that the sample with curl sends`, async () => {
      const env = { ...process.env, SECRET: 'whsec_sample' };
      for (const [event, line] of [
        ['offer-received', 'offer of 24.5 USD'],
        ['ride-status', 'the ride is driver_arriving'],
      ] as const) {
        const receiverPort = String(await freePort());
        const onPort = (text: string) => text.replaceAll('4000', receiverPort);
        const { end, command } = languages[language];
        const file = path.join(folder, `receive-${event}.${end}`);
        await writeFile(file, onPort(sampleOf(`reference/event-${event}`, language)));
        const receiver = startProgram([...command, file], { cwd: folder, env });
        try {
          const send = `${onPort(sampleOf(`reference/event-${event}`, 'curl'))} -sf --retry 60 --retry-delay 1 --retry-connrefused`;
          await run('bash', ['-euc', send], { env }).catch(fails);
          await receiver.printed(new RegExp(line));
        } finally {
          await receiver.end();
        }
      }
    });
  }
});
