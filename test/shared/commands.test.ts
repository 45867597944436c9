import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { nodeCommand } from '../../dev/servers/processes.ts';
import { version } from '../../shared/base/version.ts';
import { testBuild } from '../support/service-process.ts';

const noSettings = { MONGO_URL: '', REDIS_URL: '', SECRETS_KEY: '', PUBLIC_BASE_URL: '', SERVICE_ENV: '' };

/** Runs a command to its end, with only these settings. Commands of `dev/` run from source, as with npm. */
async function run(script: string, args: string[], settings: NodeJS.ProcessEnv = {}) {
  const compiled = [process.execPath, path.join(testBuild(), `${script}.js`), ...args];
  const [file = '', ...rest] = script.startsWith('dev/') ? nodeCommand(`${script}.ts`, args) : compiled;
  return promisify(execFile)(file, rest, { env: { ...process.env, ...noSettings, ...settings } }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

describe('commands', () => {
  it('every command prints its usage with an example in 60 columns for --help, without any setting', async () => {
    const scripts = ['workers/main', 'cli/migrate', 'dev/main', 'dev/listen'];
    const answers = await Promise.all(scripts.map((script) => run(script, ['--help'])));
    for (const [index, { code, stdout, stderr }] of answers.entries()) {
      expect({ code, stderr }, scripts[index]).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout, scripts[index]).to.match(/^Usage: (RIDES_KEY=KEY )?npm .+\n\nExamples?\n {2}\S/s);
      expect(longestLine(stdout), scripts[index]).to.be.at.most(60);
    }
  });

  it('a process and a command print their version for --version, without any setting', async () => {
    const scripts = ['api/main', 'cli/keys'];
    const answers = await Promise.all(scripts.map((script) => run(script, ['--version'])));
    for (const [index, answer] of answers.entries()) {
      expect(answer, scripts[index]).to.deep.equal({ code: 0, stdout: `${version}\n`, stderr: '' });
    }
  });

  it('in a compiled build, the help of a command names its compiled file', async () => {
    const { code, stdout, stderr } = await run('cli/keys', ['--help']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.match(/^Usage: node dist\/cli\/keys\.js COMMAND\n/);
  });

  it('an invalid command line gets exit code 2, one line with the problem, and the usage', async () => {
    const { code, stdout, stderr } = await run('cli/migrate', ['--nonsense']);
    expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
    expect(stderr).to.match(/^migrate: [^\n]*--nonsense[^\n]*\nUsage: /);
  });

  it('an unknown worker pool gets exit code 2 and the usage', async () => {
    const { code, stderr } = await run('workers/main', ['webhooks', 'nonsense']);
    expect(code).to.equal(2);
    expect(stderr).to.match(/^worker: unknown worker pool nonsense\nUsage: /);
  });

  it('a command reports all missing settings at once, one line each; migrate needs only MONGO_URL and SECRETS_KEY', async () => {
    const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
    const [refused, migrated] = await Promise.all([
      run('cli/migrate', []),
      run('cli/migrate', [], { MONGO_URL: process.env.TEST_RUN_MONGO_URL, SECRETS_KEY }),
    ]);
    const lines = ['MONGO_URL', 'SECRETS_KEY'].map((name) => `migrate: Setting ${name} is required\n`);
    expect(refused).to.deep.equal({ code: 1, stdout: '', stderr: lines.join('') });
    expect(migrated).to.deep.include({ code: 0, stderr: '' });
  });
});

const longestLine = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));
