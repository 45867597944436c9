import { execFile } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { freePort } from '../../dev/servers/ports.ts';
import { newApiKey } from '../../shared/keys/key-format.ts';
import { createKey, type NewKey, setWebhookUrl } from '../../shared/keys/manage-keys.ts';
import { rides } from '../../shared/rides/ride.ts';
import { clientOf } from '../support/client.ts';
import { useVisitor } from '../support/dashboard.ts';
import { useFolder } from '../support/folder.ts';
import { rideIn } from '../support/rides.ts';
import { type StartedProgram, startProgram } from '../support/started-program.ts';
import { until } from '../support/until.ts';
import { useTestService } from '../support/workers.ts';

const docs = path.resolve(import.meta.dirname, '../../docs');
const run = promisify(execFile);

interface Booking {
  booking: string;
  state: string;
  rides: { rideId: string; status: string; price: string | null }[];
}

/** The example docs/examples/hotel_desk.py, against the service with all its workers. */
describe('the desk of a hotel', function () {
  this.timeout(120_000);
  let port: number;
  const api = useTestService(async () => {
    port = await freePort();
    return { WEBHOOK_LOCAL_TARGETS: `http://127.0.0.1:${port}`, SIMULATION_SPEED: '20' };
  });
  const visitor = useVisitor(api);
  const root = useFolder();
  const started: StartedProgram[] = [];
  let folder: string;
  let key: NewKey;
  let desks = 0;

  beforeEach(async () => {
    desks += 1;
    folder = path.join(root.path, `desk-${desks}`);
    await mkdir(folder);
    for (const file of ['examples/hotel_desk.py', 'verify/verify.py']) {
      await copyFile(path.join(docs, file), path.join(folder, path.basename(file)));
    }
    key = await keyOf('test');
  });
  afterEach(() => Promise.all(started.splice(0).map((desk) => desk.end())));

  async function keyOf(mode: 'live' | 'test'): Promise<NewKey> {
    const made = await createKey(api.ctx.config, { accountId: visitor.account._id, name: 'desk', mode });
    await setWebhookUrl(api.ctx.config, made.keyId, `http://127.0.0.1:${port}/`, 'anyone');
    return made;
  }

  const options = (settings: Record<string, string> = {}) => ({
    cwd: folder,
    env: {
      ...{ PATH: process.env.PATH, API: `${api.url}/v1`, KEY: key.key, SECRET: key.signingSecret, PORT: String(port) },
      ...{ WAIT_SECONDS: '1', CATCH_UP_SECONDS: '1', ...settings },
    },
  });
  const desk = async (args: string[], settings?: Record<string, string>): Promise<string> =>
    (await run('python3', ['hotel_desk.py', ...args], options(settings))).stdout;
  const book = (booking: string, settings?: Record<string, string>, pickupAt?: number) =>
    desk(
      ['book', booking, '24.5', '40.758,-73.9855', '40.7128,-74.006', ...(pickupAt ? [String(pickupAt)] : [])],
      settings,
    );
  const bookings = async (): Promise<Booking[]> =>
    (await desk(['show']))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  const bookingOf = async (name: string) => (await bookings()).find(({ booking }) => booking === name) as Booking;
  const statusesOf = async (name: string) => (await bookingOf(name)).rides.map(({ status }) => status);
  const ridesMade = () => rides.countDocuments({ keyId: key.keyId });

  /** Starts the desk. It requests the rides of bookings too, so it needs the same scenario as `book`. */
  async function serve(settings?: Record<string, string>): Promise<StartedProgram> {
    const serving = startProgram(['python3', 'hotel_desk.py', 'serve'], options(settings));
    started.push(serving);
    await serving.printed(/./);
    return serving;
  }

  it('the desk books a ride once, however often it is asked to, and follows it to its end', async () => {
    await serve();
    await book('70133');
    await book('70133');
    await until(async () => (await bookingOf('70133')).state === 'completed');
    expect(await bookingOf('70133')).to.deep.include({ rides: [(await bookingOf('70133')).rides[0]] });
    expect((await bookingOf('70133')).rides[0]).to.include({ status: 'completed', price: '24.5' });
    expect(await ridesMade()).to.equal(1);
  });

  it('the desk survives its own outage: it reads the events that it missed from the feed', async () => {
    const first = await serve();
    await book('70133');
    await first.end();
    await book('70134');
    await until(
      async () => (await rides.countDocuments({ keyId: key.keyId, unsettled: 0, status: 'completed' })) === 2,
    );
    expect((await bookingOf('70134')).state).to.equal('booked');
    await serve();
    await until(async () => (await bookings()).every(({ state }) => state === 'completed'));
    expect(await ridesMade()).to.equal(2);
  });

  it('a booking that is made with a wrong key waits, and its ride is made once as soon as the key is right', async () => {
    const refused = await book('70133', { KEY: newApiKey('test') }).then(() => '', String);
    expect(refused).to.match(/401 .*: set KEY to an active key\. Nothing is lost/);
    expect((await bookingOf('70133')).state).to.equal('wanted');
    await serve();
    await until(async () => (await bookingOf('70133')).state === 'completed');
    expect(await ridesMade()).to.equal(1);
  });

  for (const scenario of ['rate_limited', 'unavailable']) {
    it(`the desk survives an outage of the service: after a refusal in ${scenario} it books the ride once`, async () => {
      await serve({ SCENARIO: scenario });
      await book('70133', { SCENARIO: scenario });
      await until(async () => (await bookingOf('70133')).state === 'completed');
      expect(await ridesMade()).to.equal(1);
    });
  }

  it('the desk books a ride for tomorrow, which waits until it opens', async () => {
    await serve();
    await book('70133', {}, Math.round(api.ctx.now()) + 24 * 3_600_000);
    const [{ rideId, status } = { rideId: '', status: '' }] = (await bookingOf('70133')).rides;
    expect(status).to.equal('bidding');
    expect((await rides.findOne({ _id: rideId }))?.openedAt).to.equal(undefined);
    await clientOf(api.url, key.key).post(`/test/rides/${rideId}/open`);
    await until(async () => (await bookingOf('70133')).state === 'completed');
    expect(await ridesMade()).to.equal(1);
  });

  it("the desk survives a driver's cancellation: it follows the ride that replaces the first one", async () => {
    await serve({ SCENARIO: 'driver_cancels' });
    await book('70133', { SCENARIO: 'driver_cancels' });
    await until(async () => (await bookingOf('70133')).state === 'completed');
    const [first, second] = (await bookingOf('70133')).rides;
    expect(await statusesOf('70133')).to.deep.equal(['cancelled', 'completed']);
    expect((await rides.findOne({ _id: second?.rideId }))?.replaces).to.equal(first?.rideId);
    expect(await ridesMade()).to.equal(2);
  });

  it('the desk survives four cancellations by drivers: it books a new ride when the service makes no other', async () => {
    const by = clientOf(api.url, key.key);
    await serve({ SCENARIO: 'stalls' });
    await book('70133', { SCENARIO: 'stalls' });
    for (let cancelled = 0; cancelled < 4; cancelled++) {
      await until(async () => (await statusesOf('70133')).at(-1) === 'driver_arriving');
      await by.post(`/test/rides/${(await bookingOf('70133')).rides.at(-1)?.rideId}/cancel`);
      await until(async () => (await statusesOf('70133'))[cancelled] === 'cancelled');
    }
    await until(async () => (await bookingOf('70133')).state === 'completed');
    expect(await statusesOf('70133')).to.deep.equal([...Array(4).fill('cancelled'), 'completed']);
    expect(await ridesMade()).to.equal(5);
  });

  it('the desk survives a duplicate: an event that arrives twice is handled once', async () => {
    const serving = await serve({ SCENARIO: 'duplicate_event' });
    await book('70133', { SCENARIO: 'duplicate_event' });
    await until(async () => (await bookingOf('70133')).state === 'completed');
    const [{ rideId } = { rideId: '' }] = (await bookingOf('70133')).rides;
    await serving.printed(/completed/);
    expect(serving.lines().slice(1)).to.deep.equal(
      ['driver_arriving', 'arrived', 'in_progress', 'completed'].map((status) => `70133 ${rideId} ${status}`),
    );
  });

  const month = () => new Date().toISOString().slice(0, 7);
  const reconcile = () =>
    desk(['reconcile', month(), 'statement.csv', key.keyId]).catch(({ code, stdout }) => `${code} ${stdout}`);

  /** The desk follows three completed rides and a cancelled one, and has the statement of the month. */
  async function statement(): Promise<string> {
    key = await keyOf('live');
    const by = clientOf(api.url, key.key);
    await serve();
    for (const [index, price] of [20.1, 0.125, 31.99].entries()) {
      await rideIn(api.ctx, 'completed', { by, reference: `booking-${index}`, offers: [{ price }] });
    }
    await rideIn(api.ctx, 'cancelled', { by, reference: 'booking-3' });
    const { html } = await visitor.get(`/dashboard/usage/${month()}/statement.csv`);
    await writeFile(path.join(folder, 'statement.csv'), html);
    await until(async () => (await rides.countDocuments({ keyId: key.keyId, unsettled: 0 })) === 4);
    return html;
  }

  it('a month of completed rides equals its statement', async () => {
    await statement();
    // The desk may first print the events that it reads from the feed.
    expect(await reconcile()).to.match(/^the statement is right: 52\.22 USD\n$/m);
  });

  it('a ride that is missing on the statement and one with another price are found', async () => {
    const csv = await statement();
    const [head = '', first = '', second = '', ...rest] = csv.split('\r\n');
    const changed = [head, second.replace(/,\d+\.\d\d,/, ',99.00,'), ...rest].join('\r\n');
    await writeFile(path.join(folder, 'statement.csv'), changed);
    const [missing = '', wrong = ''] = [first, second].map((row) => row.split(',')[0]);
    const found = await reconcile();
    expect(found).to.match(/^1 /);
    expect(found).to.match(new RegExp(`${missing}: \\d+ here, missing on the statement`));
    expect(found).to.match(new RegExp(`${wrong}: \\d+ here, 9900 on the statement`));
  });
});
