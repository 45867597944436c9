import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { freePort } from '../../dev/servers/ports.ts';
import { isAlive, nodeCommand } from '../../dev/servers/processes.ts';
import { removeAbandonedFolders } from '../../dev/servers/temporary-folder.ts';
import { stacksDir } from '../../dev/stack/stack-state.ts';
import { poolNames } from '../../shared/base/queues.ts';
import type { PageAnswer } from '../support/dashboard.ts';
import { plainBrowser } from '../support/plain-browser.ts';
import { type StartedProgram, startProgram } from '../support/started-program.ts';
import { until } from '../support/until.ts';

/** Unsets the settings of the test run: an empty setting counts as unset. */
const given = {
  MONGO_URL: '',
  REDIS_URL: '',
  SMTP_URL: '',
  SECRETS_KEY: '',
  HOST: '',
  PORT: '',
  LOG_LEVEL: '',
  ROUTING_URL: '',
  TILE_URL: '',
};
const env = { ...process.env, ...given };

type Answer = { code: number; stdout: string; stderr: string };

/** Runs a command of `dev/` to its end. */
async function command(script: string, ...words: (string | NodeJS.ProcessEnv)[]): Promise<Answer> {
  const args = words.filter((word) => typeof word === 'string');
  const settings = Object.assign({}, ...words.filter((word) => typeof word === 'object'));
  const [file = '', ...rest] = nodeCommand(`dev/${script}.ts`, args);
  return promisify(execFile)(file, rest, { env: { ...env, ...settings } }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

describe('npm run dev', function () {
  this.timeout(120_000);

  let port: number;
  let stack: StartedProgram;

  async function start(...args: string[]): Promise<void> {
    stack = startProgram(nodeCommand('dev/main.ts', ['--port', String(port), ...args]), { env });
    await stack.printed(/status shows this again/);
  }

  const processesNow = () => childrenOf(stack.child.pid as number);
  const printedKey = () => stack.output().match(/svc_test_\w+/)?.[0] ?? '';
  const state = async () => JSON.parse(await fs.readFile(path.join(stacksDir, String(port), 'stack.json'), 'utf8'));

  async function createRide(key: string): Promise<Response> {
    return fetch(`http://127.0.0.1:${port}/v1/rides`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ pickup: { lat: 1, lng: 2 }, destination: { lat: 1, lng: 3 }, fare: 10 }),
    });
  }

  /** `fetch` does not let a caller choose the Host header. */
  async function board(pathname: string, headers: http.OutgoingHttpHeaders = {}) {
    const request = http.get({ host: '127.0.0.1', port, path: `/ops/queues${pathname}`, headers });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    let text = '';
    for await (const chunk of response) text += chunk;
    return { status: response.statusCode, type: response.headers['content-type'], text };
  }

  before(async () => {
    port = await freePort();
    await start('--fresh', '--scale', 'webhooks=2');
  });

  after(async () => {
    await stack.end('SIGTERM');
    await fs.rm(path.join(stacksDir, String(port)), { recursive: true, force: true });
  });

  it('shows the rides of the test key to the printed account, which signs in with a code of the mail box', async () => {
    const created = await createRide(printedKey());
    expect(created.status).to.equal(201);
    const { rideId, testMode } = (await created.json()) as { rideId: string; testMode: boolean };
    expect(testMode).to.equal(true);
    const [, email = ''] = /Sign in as +(\S+@\S+),/.exec(stack.output()) ?? [];
    const browser = plainBrowser({ url: `http://127.0.0.1:${port}` });
    /** Repeats a request that a busy machine does not answer within 3 s. */
    const answered = async (ask: () => Promise<PageAnswer>): Promise<string> => {
      const { page } = browser;
      let answer = await ask();
      while (answer.status === 503) {
        await browser.get(page.path);
        answer = await ask();
      }
      return answer.html;
    };
    expect(await answered(() => browser.get('/dashboard'))).to.include('href="/dev/mail"');
    await answered(() => browser.press('Send code', { email }));
    expect(stack.output()).to.include(`http://127.0.0.1:${port}/dev/mail`);
    const mail = async () => (await fetch(`http://127.0.0.1:${port}/dev/mail`)).text();
    // Wait until the mail pool has processed it.
    await until(async () => !(await mail()).includes('waiting to be sent'));
    const [, code = ''] = /dev@example\.com.*?<code>(\d{6})<\/code>/s.exec(await mail()) ?? [];
    expect(await answered(() => browser.press('Sign in', { code }))).to.include('Sign out');
    expect(await answered(() => browser.get('/dashboard/rides'))).to.include(rideId);
  });

  it('the events of the test key are delivered to the receiver of the stack', async () => {
    await createRide(printedKey());
    await stack.printed(/event 1 offer\.received +delivered 200/);
  });

  it('a routing server for the streets of Gothenburg answers at ROUTING_URL until the stack ends', async () => {
    const { ROUTING_URL } = (await state()).env;
    const response = await fetch(`${ROUTING_URL}/11.9528,57.6998;11.9385,57.7074`);
    expect(await response.json()).to.include({ code: 'Ok' });
  });

  it('the maps have a file of the streets of Gothenburg', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/tiles/region.pmtiles`, { headers: { Range: 'bytes=0-6' } });
    expect({ status: response.status, text: await response.text() }).to.deep.equal({ status: 206, text: 'PMTiles' });
  });

  it('the queue board shows the ride and the step of each job, is read-only, and shows only the used job states', async () => {
    const { rideId } = (await (await createRide(printedKey())).json()) as { rideId: string };
    const page = await board('');
    expect(page.type).to.match(/^text\/html/);
    for (const [, asset] of page.text.matchAll(/(?:src|href)="(static\/[^"]+)"/g)) {
      expect((await board(`/${asset}`)).status, asset).to.equal(200);
    }
    const { queues } = JSON.parse((await board('/api/queues?activeQueue=simulator&status=latest')).text);
    const names = queues.map((queue: { name: string }) => queue.name);
    expect(names).to.have.members(poolNames);
    expect(queues.map((queue: { displayName: string }) => queue.displayName)).to.include.members([
      'mail · 1 process',
      'webhooks · 2 processes',
    ]);
    for (const queue of queues) {
      expect(queue).to.include({ readOnlyMode: true, allowRetries: false });
      expect(queue.statuses).to.have.members(['latest', 'active', 'waiting', 'delayed', 'failed', 'completed']);
    }
    const { jobs } = queues.find((queue: { name: string }) => queue.name === 'simulator');
    const job = jobs.find(({ name }: { name: string }) => name === `offer ${rideId}`);
    expect(job.data).to.include({ ride: rideId, step: 'offer', outcome: 'none yet' });
    expect(Date.parse(job.data.due)).to.equal(job.timestamp + job.opts.delay);
  });

  it('the command status shows the start overview again', async () => {
    const { code, stdout } = await command('main', 'status', '--port', String(port));
    expect(code).to.equal(0);
    // The logs follow this line, and their hints contain keys too.
    const [atStart = ''] = stack.output().split('Press Ctrl-C to stop');
    const isShown = (row: string) => /API {2}|key|secret|board|KEY=|curl|MongoDB|Redis/.test(row);
    // A start that takes over 5 s prints its progress.
    const isProgress = (row: string) => /^ *\d+\.\d s /.test(row) || row.includes('Ride Partner API');
    for (const line of atStart.split('\n')) {
      if (isShown(line) && !isProgress(line)) expect(stdout).to.include(line);
    }
  });

  it('each process shows its metrics on the port that the overview names', async () => {
    const ports: [name: string, port: number][] = Object.entries((await state()).metricsPorts);
    expect(ports.map(([name]) => name)).to.have.members(['api', ...poolNames, 'webhooks-2']);
    for (const [name, metricsPort] of ports) {
      expect(stack.output()).to.include(`${name} ${metricsPort}`);
      const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      expect(metrics).to.include(`rides_process_info{process="${name.replace(/-\d$/, '')}"} 1`);
    }
  });

  it('--scale starts more processes of a pool, and a worker that is started as status says joins them', async () => {
    const { stdout: shown } = await command('main', 'status', '--port', String(port));
    const [, file = '', ...words] =
      /node --env-file=(\S+) \\\n +(--import tsx workers\/main\.ts) (webhooks)\n/.exec(shown) ?? [];
    const processes = async () => {
      const { code, stdout } = await command('command', 'ops', 'queues', '--json', '--port', String(port));
      // On a slow machine, the command can give up before Redis answers.
      if (code !== 0) return [];
      const { queues } = JSON.parse(stdout);
      return queues.map((queue: { pool: string; processes: string[] }) => [queue.pool, queue.processes.length]);
    };
    const withWebhooks = (count: number) => poolNames.map((pool) => [pool, pool === 'webhooks' ? count : 1]);
    const become = (wanted: unknown) => until(async () => JSON.stringify(await processes()) === JSON.stringify(wanted));
    await become(withWebhooks(2));
    const { SECRETS_KEY } = (await state()).env;
    expect(await fs.readFile(file, 'utf8')).to.include(SECRETS_KEY);
    expect(shown).not.to.include(SECRETS_KEY);
    const args = [`--env-file=${file}`, ...words.join(' ').split(' ')];
    const worker = spawn(process.execPath, args, { env: { PATH: process.env.PATH }, stdio: 'ignore' });
    try {
      await become(withWebhooks(3));
    } finally {
      worker.kill();
      await once(worker, 'exit');
    }
  });

  it('the stack reports in one line why it cannot start, or that none is running', async () => {
    const elsewhere = String(await freePort());
    const refusals: [code: number, line: string | RegExp, answer: Promise<Answer>][] = [
      [
        1,
        'REDIS_URL: no Redis answers at 127.0.0.1:1 (ECONNREFUSED)',
        command('main', '--port', elsewhere, { REDIS_URL: 'redis://user:secret@127.0.0.1:1' }),
      ],
      [
        1,
        'HOST 192.0.2.1 is not an address of this machine (EADDRNOTAVAIL)',
        command('main', '--port', elsewhere, { HOST: '192.0.2.1' }),
      ],
      [
        1,
        /^no stack is running on port \d+: start one with npm run dev$/,
        command('main', 'status', '--port', elsewhere),
      ],
      [1, /^a stack is running on port \d+ .*$/, command('main', '--port', String(port))],
      [2, /prot/, command('main', '--prot', '1')],
      [2, /port/, command('main', '--port', '0')],
      [2, /^--scale web=2 must be POOL=N: .* bidding simulator /, command('main', '--scale', 'web=2')],
      [2, /^--scale mail=21 must be POOL=N: N is 0 to 20,/, command('main', '--scale', 'mail=21')],
    ];
    for (const [code, line, answer] of refusals) {
      const { code: ended, stderr } = await answer;
      expect(ended, stderr).to.equal(code);
      const [, said = ''] = /^dev: ([^\n]+)\n$/.exec(stderr) ?? [];
      if (typeof line === 'string') expect(said).to.equal(line);
      else expect(said).to.match(line);
    }
    await fs.rm(path.join(stacksDir, elsewhere), { recursive: true, force: true });
  });

  it('the stack refuses the queue board to other hosts and origins', async () => {
    const foreign = [
      { host: `rides.example:${port}` },
      { host: '127.0.0.1.example' },
      { origin: 'http://rides.example' },
      { host: `localhost:${port}`, origin: 'null' },
    ];
    for (const headers of foreign) {
      for (const pathname of ['', '/', '/api/queues']) {
        const answer = await board(pathname, headers);
        expect(answer.status, JSON.stringify({ headers, pathname })).to.equal(403);
        expect(JSON.parse(answer.text)).to.have.keys('error');
      }
    }
    for (const host of [`localhost:${port}`, `[::1]:${port}`, '127.0.0.1']) {
      expect((await board('/api/queues', { host })).status, host).to.equal(200);
    }
  });

  it('npm run keys finds the stack through its port', async () => {
    const [found, none] = await Promise.all([
      command('command', 'keys', 'create', '--port', String(port), '--name', 'a', '--mode=test', '--json'),
      command('command', 'keys', 'list', `--port=${await freePort()}`),
    ]);
    expect(found.code).to.equal(0);
    expect(found.stderr).to.equal(`keys: using the stack on port ${port}\n`);
    const created = JSON.parse(found.stdout);
    expect(created).to.have.all.keys('keyId', 'key', 'mode', 'name', 'webhookUrl', 'signingSecret');
    expect((await createRide(created.key)).status).to.equal(201);

    expect(none.code).to.equal(1);
    expect(none.stderr).to.match(/^keys: no stack is running on port \d+: .*\n$/);
  });

  it('the stack restarts a killed process, and reports it', async () => {
    const processes = await processesNow();
    const worker = processes.find(({ command: line }) => line.endsWith('workers/main.js simulator'));
    process.kill(worker?.pid as number, 'SIGKILL');
    await stack.printed(/>>> simulator has ended \(killed by SIGKILL\): restarting it/);
    await stack.printed(/>>> simulator is running again/);
  });

  it('the stack ends all its processes at the first signal, and keeps the data for the next start', async () => {
    const before = await state();
    const firstKey = printedKey();
    const { rideId } = (await (await createRide(firstKey)).json()) as { rideId: string };
    const processes = await processesNow();
    expect(processes.length).to.be.at.least(7);
    const build = buildOf(processes);
    expect(await isThere(build)).to.equal(true);
    stack.child.kill('SIGINT');
    expect(await stack.end('SIGINT')).to.equal(0);
    await until(async () => !processes.some(({ pid }) => isAlive(pid)));
    expect(await isThere(build)).to.equal(false);
    expect(await state().catch((error) => error.code)).to.equal('ENOENT');

    await start();
    expect((await state()).env.SECRETS_KEY).to.equal(before.env.SECRETS_KEY);
    const headers = { 'X-Api-Key': printedKey() };
    expect((await fetch(`http://127.0.0.1:${port}/v1/rides/${rideId}`, { headers })).status).to.equal(200);
    expect(printedKey(), 'the key of the first start').to.equal(firstKey);
  });

  it('a killed stack leaves no process running, and the next start removes its compiled files', async () => {
    const processes = await processesNow();
    expect(processes.length).to.be.at.least(7);
    await stack.end('SIGKILL');
    await until(async () => !processes.some(({ pid }) => isAlive(pid)));
    const build = buildOf(processes);
    expect(build).not.to.equal('none');
    await removeAbandonedFolders(path.dirname(build));
    // Another test's stack may be removing the same folder.
    await until(async () => !(await isThere(build)));
  });
});

/** The folder with the compiled files of a stack's processes. */
const buildOf = (processes: { command: string }[]): string =>
  processes.map(({ command: line }) => / (\S+)\/dev\/api\.js$/.exec(line)?.[1]).find(Boolean) ?? 'none';

const isThere = (file: string): Promise<boolean> =>
  fs.access(file).then(
    () => true,
    () => false,
  );

async function childrenOf(parent: number): Promise<{ pid: number; command: string }[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,args=']);
  return stdout.split('\n').flatMap((line) => {
    const [, pid, ppid, args = ''] = line.match(/^\s*(\d+)\s+(\d+)\s+(.*)$/) ?? [];
    // The compiler of tsx ends automatically when its input ends.
    return Number(ppid) === parent && !args.includes('esbuild') ? [{ pid: Number(pid), command: args }] : [];
  });
}
