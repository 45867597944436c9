import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { freePort } from '../../dev/servers/ports.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { rides } from '../../shared/rides/ride.ts';
import { monthOf } from '../../shared/usage/days.ts';
import { useFolder } from '../support/folder.ts';
import { scaled } from '../support/machine-speed.ts';
import { offerOn, rideIn } from '../support/rides.ts';
import type { TestApi } from '../support/service.ts';
import { type StartedProgram, startProgram } from '../support/started-program.ts';
import { until } from '../support/until.ts';
import { useTestService } from '../support/workers.ts';
import { clients, type Program } from './packages.ts';

const examples = path.resolve(import.meta.dirname, '../../docs/examples');
const sources = { TypeScript: 'front-desk.ts', Python: 'front_desk.py' };

/** The examples that use the clients, against the service with all its workers. */
for (const language of ['TypeScript', 'Python'] as const) {
  describe(`the front desk in ${language}`, function () {
    this.timeout(60_000);
    let port: number;
    const api = useTestService(async () => {
      port = await freePort();
      return { WEBHOOK_LOCAL_TARGETS: `http://127.0.0.1:${port}` };
    });
    const root = useFolder();
    let program: Program;
    let partner: Awaited<ReturnType<TestApi['partner']>>;
    let cwd: string;
    const started: StartedProgram[] = [];

    before(async function () {
      this.timeout(scaled(300_000));
      program = await clients[language](path.join(examples, sources[language]));
    });
    beforeEach(async () => {
      partner = await api.partner('live', `http://127.0.0.1:${port}/`);
      cwd = path.join(root.path, partner.keyId);
      await mkdir(cwd);
    });
    afterEach(() => Promise.all(started.splice(0).map((desk) => desk.end())));

    const options = () => {
      const { PATH } = process.env;
      const given = { API: api.url, KEY: partner.key, SECRET: partner.signingSecret, PORT: String(port) };
      return { cwd, env: { PATH, ...given, ...program.env } };
    };
    async function desk(...args: string[]): Promise<string> {
      const [command = '', ...before] = program.command;
      return (await promisify(execFile)(command, [...before, ...args], options())).stdout.trim();
    }
    function serve(): void {
      started.push(startProgram([...program.command, 'serve'], options()));
    }
    const printed = () => started.flatMap((desk) => desk.lines());
    const book = async () =>
      (await desk('book', '70133', '24.5', '26', '40.758,-73.9855', '40.7128,-74.006')).split(' ')[0] as string;
    const ride = async (rideId: string) => (await partner.get(`/rides/${rideId}`)).body;

    it('the desk books a ride once, takes the cheapest offer within the limit, changes, writes and cancels', async () => {
      serve();
      const rideId = await book();
      expect(await book()).to.equal(rideId);
      for (const price of [30, 26.5, 25.5]) await offerOn(api.ctx, rideId, { price });
      await until(async () => (await ride(rideId)).status === 'driver_arriving');
      expect(await ride(rideId)).to.include({ agreedPrice: 25.5, reference: '70133' });

      await desk('change', rideId, 'Side entrance');
      await desk('tell', rideId, 'The guest is late');
      expect((await rides.findOne({ _id: rideId }))?.notes).to.equal('Side entrance');
      expect((await ride(rideId)).messages[0]).to.include({ text: 'The guest is late' });

      // The desk reads the events of its outage from the feed.
      await until(async () => printed().length > 0);
      await started[0]?.end();
      await applyAction(api.ctx, rideId, { action: 'arrive' }, 'anyone', { by: 'driver' });
      await desk('cancel', rideId);
      await until(async () => (await rides.findOne({ _id: rideId }))?.unsettled === 0);
      serve();
      await until(async () => printed().at(-1)?.endsWith('cancelled') === true);
      // An event that was printed, but whose position was not stored before the crash, comes again.
      const statuses = ['driver_arriving', 'arrived', 'cancelled'];
      expect([...new Set(printed())]).to.deep.equal(statuses.map((status) => `70133 ${rideId} ${status}`));
    });

    it('the statement of a month has its completed rides and their sum', async () => {
      const ids: string[] = [];
      for (const [index, price] of [20.1, 31.99].entries()) {
        const wish = { by: partner, reference: `room-${index}`, offers: [{ price }] };
        ids.push((await rideIn(api.ctx, 'completed', wish)).rideId);
      }
      expect((await desk('statement', monthOf(new Date(api.ctx.now())))).split('\n')).to.deep.equal([
        `room-0 ${ids[0]} 20.10`,
        `room-1 ${ids[1]} 31.99`,
        'total 52.09',
      ]);
    });

    it('a refused command ends with the reason', async () => {
      const refusal = await desk('tell', await book(), 'Hello').catch(({ code, stderr }) => ({ code, stderr }));
      expect(refusal).to.include({ code: 1 });
      expect((refusal as { stderr: string }).stderr).to.include('409 ');
    });
  });
}
