import { expect } from 'chai';
import { drivers } from '../../cli/drivers/driver-commands.ts';
import { keys } from '../../cli/keys/key-commands.ts';
import { ops } from '../../cli/ops/ops-commands.ts';
import type { Program } from '../../cli/program.ts';
import { runToEnd } from '../support/command-line.ts';
import { testContext, testSettings } from '../support/service.ts';

const dana = 'create --name Dana --phone 1 --vehicle Prius --plate T';
const car = '--car-type comfort --seats 4';
const key = 'create --name x --mode test';
const period = '--since 2026-11-05T09:30Z';

/**
 * The command lines that each program refuses as invalid, and those that fail although they are valid. commander refuses
 * missing and surplus words and unknown options: one case of each is enough.
 */
const refused = {
  keys: {
    invalid: [
      ...['', 'nonsense', 'limit key_x', 'limit key_x --per-minute 5', 'create --nonsense', 'create --name'],
      ...['create --name x --mode LIVE', `${key} --account x`, 'rotate', 'set-webhook', 'set-webhook --none'],
      ...['set-webhook key_x', 'set-webhook key_x https://partner.example/ --none'],
    ],
    failing: [
      'rotate key_unknown',
      'rotate __proto__',
      'revoke key_unknown',
      'roll-secret key_unknown',
      'set-webhook key_unknown https://partner.example/',
      'set-webhook key_unknown http://partner.example/',
      key.replace('x', 'x'.repeat(101)),
      `${key} --webhook-url https://localhost/`,
      `${key} --webhook-url `,
    ],
  },
  drivers: {
    invalid: [
      'create',
      `${dana} --car-type comfort --seats four`,
      `${dana} ${car} --rating x`,
      `${dana} ${car} driver_x`,
    ],
    failing: [
      ...['suspend driver_unknown', 'resume driver_unknown', 'rotate driver_unknown', 'revoke driver_unknown'],
      ...[`${dana.replace('Dana', '\u00a0')} ${car}`, `${dana.replace('Dana', 'x'.repeat(101))} ${car}`],
      ...[`${dana} --car-type truck --seats 4`, `${dana} --car-type comfort --seats 0`],
      ...[`${dana} --car-type comfort --seats 1.5`, `${dana} ${car} --rating 5.1`, `${dana} ${car} --equipment boat`],
      ...[`${dana} ${car} --equipment `, `${dana} ${car} --equipment pet,pet`],
    ],
  },
  ops: {
    invalid: [
      ...['keys', 'pause nonsense', 'pause mail --by ', 'resume ride x', 'suspend mail', 'suspend key', 'sweep --by'],
      ...[`resend ${period}`, `resend ${period.replace('Z', '')} --until 2026-11-05T10:05Z`],
      ...[`resend ${period} --until 2027-02-30T10:05Z`, `resend ${period} --until 2026-11-05T09:29Z`, 'tokens show'],
      ...['tokens list --owner x', 'tokens revoke', 'audit --action nonsense', 'audit --since yesterday', 'backup'],
      ...['restore', 'restore --from x --check', 'restore --check --key-file x', 'doctor --https-target http://x'],
    ],
    failing: [
      ...['ride ride_unknown', 'erase ride_unknown'],
      ...['account', 'key', 'driver'].flatMap((kind) => [`suspend ${kind} x_unknown`, `resume ${kind} x_unknown`]),
    ],
  },
};

// biome-ignore lint/suspicious/noExplicitAny: each program has another context.
const programs: Record<keyof typeof refused, Program<any>> = { keys, drivers, ops };

for (const name of ['keys', 'drivers', 'ops'] as const) {
  const program = programs[name];
  const { invalid, failing } = refused[name];
  const run = (line: string) => runToEnd(program, line === '' ? [] : line.split(' '), testSettings());

  describe(`the command lines of ${name}`, () => {
    before(async () => {
      const ctx = await testContext();
      await ctx.close();
    });

    const commands = Object.keys(program.commands).map((command) => `${command} --help`);
    for (const line of ['--help', '-h', 'help', ...commands]) {
      it(`"${line}" prints the usage in 60 columns, with an example`, async () => {
        const { code, out, err } = await run(line);
        const lines = out.join('\n').split('\n');
        expect({ code, err }).to.deep.equal({ code: 0, err: [] });
        expect(lines[0]?.startsWith(`Usage: npm run -s ${name} -- `)).to.equal(true);
        expect(lines.findIndex((text) => /^Examples?$/.test(text))).to.be.at.least(3);
        expect(Math.max(...lines.map(({ length }) => length))).to.be.at.most(60);
      });
    }

    for (const line of invalid) {
      it(`"${line}" exits with code 2 and prints the usage`, async () => {
        const { code, out, err } = await run(line);
        expect({ code, out }).to.deep.equal({ code: 2, out: [] });
        expect(err.join('\n')).to.match(new RegExp(`^${name}: .+\nUsage: `));
      });
    }

    for (const line of failing) {
      it(`"${line}" exits with code 1 and prints one line`, async () => {
        const { code, out, err } = await run(line);
        expect({ code, out, lines: err.length }).to.deep.equal({ code: 1, out: [], lines: 1 });
        expect(err[0]).to.match(new RegExp(`^${name}: [^\n]+$`));
      });
    }
  });
}

describe('a mistyped command', () => {
  for (const [line, similar] of [
    ['rotat key_x', 'rotate'],
    ['craete --name x', 'create'],
  ] as const) {
    it(`"${line}" is refused with the nearest command, ${similar}`, async () => {
      const { code, err } = await runToEnd(keys, line.split(' '), testSettings());
      expect(code).to.equal(2);
      expect(err[0]).to.match(new RegExp(`\\(Did you mean ${similar}\\?\\)$`));
    });
  }

  it('a command that resembles none is refused without a guess', async () => {
    const { err } = await runToEnd(keys, ['nonsense'], testSettings());
    expect(err[0]).to.equal("keys: unknown command 'nonsense'");
  });
});
