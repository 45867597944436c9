import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { temporaryFolder } from '../../dev/servers/temporary-folder.ts';
import { verify } from '../../docs/verify/verify.ts';
import { eventExamples } from '../../shared/rides/event-schemas.ts';
import { signatureHeader, verifySignature } from '../../shared/webhooks/sign.ts';
import { scaled } from '../support/machine-speed.ts';
import { startProgram } from '../support/started-program.ts';
import { installLanguages } from './install-languages.ts';

const root = path.resolve(import.meta.dirname, '../..');
const secret = 'whsec_2bVn8Y0Uw4cA1k9fZ3xQ7LmT';
const now = 1_795_269_605;

interface Case {
  title: string;
  secret: string;
  signature: string;
  body: Buffer;
  now: number;
}

const bodies = [JSON.stringify(eventExamples['ride.status']), '{}', '', 'ü𝕏\u0000\n "', 'x'.repeat(100_000)];

const genuine = (body: string, at: number): Omit<Case, 'title'> => ({
  secret,
  signature: signatureHeader(secret, body, at),
  body: Buffer.from(body),
  now,
});

/** A genuine event with one change. */
function tampered(title: string, change: (event: Omit<Case, 'title'>) => Partial<Case>): Case {
  const event = genuine(bodies[0] as string, now);
  return { title, ...event, ...change(event) };
}

/** Headers that differ from that of a genuine event. `v1` is its HMAC. */
const headers: [title: string, rewrite: (signature: string, v1: string) => string][] = [
  ['another time with the old HMAC', (signature) => signature.replace(`t=${now}`, `t=${now + 1}`)],
  ['a time with a leading zero', (signature) => signature.replace('t=', 't=0')],
  ['no header', () => ''],
  ['upper-case hex', (_, v1) => `t=${now},v1=${v1.toUpperCase()}`],
  ['a missing hex digit', (signature) => signature.slice(0, -1)],
  ['an additional hex digit', (signature) => `${signature}0`],
  ['a character that is not hex', (signature) => `${signature.slice(0, -1)}g`],
  ['a line break at the end', (signature) => `${signature}\n`],
  ['a preceding line', (signature) => `x\n${signature}`],
  ['a space', (signature) => signature.replace(',', ', ')],
  ['the reverse order', (_, v1) => `v1=${v1},t=${now}`],
  ['a second v1', (signature, v1) => `${signature},v1=${v1}`],
  ['an additional scheme', (signature, v1) => `${signature},v0=${v1}`],
  ['no time', (_, v1) => `t=,v1=${v1}`],
  ['a negative time', (_, v1) => `t=-${now},v1=${v1}`],
  ['a time with a fraction', (_, v1) => `t=${now}.0,v1=${v1}`],
  ['a time in other digits', (_, v1) => `t=١٧٩٥٢٦٩٦٠٥,v1=${v1}`],
  ['the largest time', (_, v1) => `t=999999999999999,v1=${v1}`],
  ['a time that is too long', (_, v1) => `t=1${'0'.repeat(30)},v1=${v1}`],
  ['an empty v1', () => `t=${now},v1=`],
];

const written: Case[] = [
  ...bodies.map((body, index) => ({ title: `a genuine event, ${index}`, ...genuine(body, now) })),
  ...[0, 1, -1, 299, -299, 300, -300, 301, 86_400, -86_400].map((age) => ({
    title: `an event from ${age} s ago`,
    ...genuine('{}', now - age),
  })),
  tampered('another body', () => ({ body: Buffer.from('{}') })),
  tampered('an additional space', ({ body }) => ({ body: Buffer.concat([body, Buffer.from(' ')]) })),
  tampered('bytes that are not UTF-8', () => ({ body: Buffer.from([0xff, 0xfe, 0x00]) })),
  tampered('another secret', () => ({ secret: `${secret}x` })),
  tampered('a secret without its prefix', () => ({ secret: secret.replace('whsec_', '') })),
  tampered('a secret with a line break', () => ({ secret: `${secret}\n` })),
  ...headers.map(([title, rewrite]) =>
    tampered(title, ({ signature }) => ({ signature: rewrite(signature, signature.replace(/^.*v1=/, '')) })),
  ),
];

/** Genuine events, each with one byte of its header or body changed, added or removed. */
const generated: Case[] = fc.sample(
  fc
    .tuple(
      fc.json({ maxDepth: 2 }),
      fc.integer({ min: -400, max: 400 }),
      fc.nat(),
      fc.nat({ max: 255 }),
      fc.constantFrom('body', 'signature', 'nothing'),
    )
    .map(([body, age, position, byte, where]): Case => {
      const event = { title: `${where} of ${body}`, ...genuine(body, now - age) };
      if (where === 'body') return { ...event, body: spliced(event.body, position, byte) };
      // A header can contain only ASCII.
      if (where === 'signature')
        return { ...event, signature: spliced(Buffer.from(event.signature), position, (byte % 95) + 32).toString() };
      return event;
    }),
  { numRuns: 300, seed: 20_251_121 },
);

function spliced(bytes: Buffer, position: number, byte: number): Buffer {
  const at = position % (bytes.length + 1);
  const kept = position % 2 === 0 ? at : at + 1;
  return Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(kept)]);
}

const cases = [...written, ...generated];
const expected = cases.map((one) => verifySignature(one.secret, one.signature, one.body, one.now));

describe('the signature verifiers of the documentation', () => {
  let folder: string;
  let missing: string[];
  before(async function () {
    this.timeout(scaled(600_000));
    missing = await installLanguages();
    await mkdir(path.join(root, '.cache'), { recursive: true });
    folder = await temporaryFolder('verifiers', path.join(root, '.cache'));
    for (const from of [path.join(root, 'docs/verify'), path.join(import.meta.dirname, 'drivers')]) {
      for (const file of await readdir(from)) await copyFile(path.join(from, file), path.join(folder, file));
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('the verifiers are compared on more than 50 genuine and 50 tampered events', () => {
    for (const verdict of [true, false]) expect(expected.filter((one) => one === verdict).length).to.be.above(50);
  });

  it('the verifier agrees with the service on every case: TypeScript', () => {
    compare(cases.map((one) => verify(one.secret, one.signature, one.body, one.now)));
    expect(verify(secret, undefined, '{}')).to.equal(false);
    expect(verify(secret, signatureHeader(secret, '{}', Math.floor(Date.now() / 1_000)), '{}')).to.equal(true);
  });

  const languages: [name: string, file: string, command: string, prepare: () => Promise<string[]>][] = [
    ['Python', 'verify.py', 'python3', async () => ['python3', 'drive.py']],
    ['PHP', 'verify.php', 'php', async () => ['php', 'drive.php']],
    ['Ruby', 'verify.rb', 'ruby', async () => ['ruby', 'drive.rb']],
    [
      'Go',
      'verify.go',
      'go',
      async () => {
        await mkdir(path.join(folder, 'go/webhooks'), { recursive: true });
        await copyFile(path.join(folder, 'verify.go'), path.join(folder, 'go/webhooks/verify.go'));
        await copyFile(path.join(folder, 'drive.go'), path.join(folder, 'go/main.go'));
        await writeFile(path.join(folder, 'go/go.mod'), 'module example\n\ngo 1.19\n');
        await run(['go', 'build', '-o', '../drive-go', '.'], '', 'go');
        return ['./drive-go'];
      },
    ],
    [
      'Java',
      'Verify.java',
      'javac',
      async () => {
        await run(['javac', '-d', 'classes', 'Verify.java', 'Drive.java'], '');
        return ['java', '-cp', 'classes', 'Drive'];
      },
    ],
  ];
  for (const [name, file, command, prepare] of languages) {
    // If a language is missing and cannot be installed, its test stays pending, which .ci/run counts as failed.
    it(`the verifier agrees with the service on every case: ${name} (${file})`, async function () {
      if (missing.includes(command)) this.skip();
      const started = await prepare();
      const hex = (value: string | Buffer) => `x${Buffer.from(value).toString('hex')}`;
      const lines = cases.map((one) => [hex(one.secret), hex(one.signature), hex(one.body), one.now].join(' '));
      const output = await run(started, `${lines.join('\n')}\n`);
      compare(
        output
          .trim()
          .split('\n')
          .map((line) => line === 'true'),
      );
    });
  }

  it('every verifier has a test', async () => {
    const files = await readdir(path.join(root, 'docs/verify'));
    expect(files).to.have.members(['verify.ts', ...languages.map(([, file]) => file)]);
  });

  function compare(verdicts: readonly boolean[]): void {
    expect(verdicts).to.have.length(cases.length);
    for (const [index, one] of cases.entries()) expect(verdicts[index], one.title).to.equal(expected[index]);
  }

  async function run(command: string[], input: string, inside = ''): Promise<string> {
    const env = {
      ...process.env,
      GOCACHE: path.join(root, '.cache/go-build'),
      GOFLAGS: '-mod=mod',
      GOTOOLCHAIN: 'local',
      GO111MODULE: 'on',
    };
    const program = startProgram(command, { cwd: path.join(folder, inside), env, input });
    const code = await program.ended;
    expect(code, `${command.join(' ')}\n${program.errors()}`).to.equal(0);
    return program.output();
  }
});
