import { expect } from 'chai';
import { drivers } from '../../../cli/drivers/driver-commands.ts';
import { tableOf } from '../../../cli/drivers/drivers-table.ts';
import { connectMongo, disconnectMongo } from '../../../shared/base/mongo/connect-mongo.ts';
import { DriverModel } from '../../../shared/drivers/driver.ts';
import { isWellFormedDriverKey } from '../../../shared/keys/key-format.ts';
import { runToEnd } from '../../support/command-line.ts';
import { testContext, testSettings } from '../../support/service.ts';

describe('the command line of drivers', () => {
  before(async () => {
    const ctx = await testContext();
    await ctx.close();
  });

  /** Runs one command, which needs neither SECRETS_KEY nor Redis. */
  const run = (...argv: string[]) => runToEnd(drivers, argv, testSettings({ SECRETS_KEY: '', REDIS_URL: '' }));
  const dana = ['--name', 'Dana', '--phone', '+12025550100', '--vehicle', 'Prius, blue', '--plate', 'T 1'];
  const car = ['--car-type', 'comfort', '--seats', '4'];
  const create = async (...more: string[]) => (await run('create', ...dana, ...car, '--json', ...more)).json();
  const listed = async (driverId: string) =>
    (await run('list', '--json')).json().find((driver: { driverId: string }) => driver.driverId === driverId);

  it('create prints the id and key of the new driver in one line of JSON', async () => {
    const { code, out, err, json } = await run('create', ...dana, ...car, '--rating', '4.5', '--json');
    expect({ code, err, lines: out.length }).to.deep.equal({ code: 0, err: [], lines: 1 });
    const made = json();
    expect(Object.keys(made)).to.deep.equal(['driverId', 'key']);
    expect(made.key).to.match(/^svc_driver_[0-9A-Za-z]{38}$/);
    expect(isWellFormedDriverKey(made.key)).to.equal(true);
    expect(await listed(made.driverId)).to.include({
      name: 'Dana',
      phone: '+12025550100',
      vehicle: 'Prius, blue',
      plate: 'T 1',
      carType: 'comfort' as const,
      seats: 4,
      rating: 4.5,
      operatorRating: 4.5,
      ratedRides: 0,
      suspendedAt: null,
      revokedAt: null,
    });
  });

  it('create stores the equipment, which list shows; without options, a driver has none and the rating 5', async () => {
    const equipped = await create('--equipment', 'pet, child_seat');
    expect((await listed(equipped.driverId)).equipment).to.deep.equal(['pet', 'child_seat']);
    expect(await listed((await create()).driverId))
      .to.include({ rating: 5 })
      .and.not.have.property('equipment');
  });

  it('the secret key is neither stored nor listed', async () => {
    const { driverId, key } = await create();
    await connectMongo(process.env.TEST_RUN_MONGO_URL ?? '');
    const stored = JSON.stringify(await DriverModel.findById(driverId).lean());
    await disconnectMongo();
    const secret = key.slice('svc_driver_'.length, -6);
    expect(stored).not.to.include(secret);
    for (const more of [['--json'], []]) {
      const { out } = await run('list', ...more);
      expect(out.join('\n')).to.include(driverId).and.not.include(secret);
    }
  });

  it('rotate, suspend, resume and revoke change a driver, and fail after a revocation', async () => {
    const { driverId, key } = await create();
    const rotated = (await run('rotate', driverId, '--json')).json();
    expect(Object.keys(rotated)).to.deep.equal(['driverId', 'key']);
    expect(rotated).to.include({ driverId }).and.not.include({ key });
    expect((await run('suspend', driverId, '--json')).json()).to.deep.equal({ driverId, suspended: true });
    expect((await listed(driverId)).suspendedAt).to.be.a('string');
    expect((await run('resume', driverId, '--json')).json()).to.deep.equal({ driverId, suspended: false });
    expect((await listed(driverId)).suspendedAt).to.equal(null);
    expect((await run('revoke', driverId, '--json')).json()).to.deep.equal({ driverId, revoked: true });
    for (const command of ['rotate', 'suspend', 'resume', 'revoke']) {
      expect((await run(command, driverId)).code, command).to.equal(1);
    }
  });

  it('create and suspend end with a line about the next step or effect', async () => {
    const { out } = await run('create', ...dana, ...car);
    const lines = out.join('\n').split('\n');
    expect(lines.at(-1)).to.equal('Keep the secret key: it is not shown again.');
    const driverId = lines[0]?.match(/^Driver id {7}(driver_\w+)$/)?.[1] ?? '';
    expect((await run('suspend', driverId)).out.join('\n')).to.match(/Offers and ride end within seconds\.$/);
  });

  it('list prints labelled, aligned columns, and replaces control characters in names', () => {
    const driver = {
      driverId: 'driver_1a2B3c4D5e6F7g',
      name: 'a\u001b[31m\nb',
      phone: '+12025550100',
      rating: 4.82,
      operatorRating: 5,
      ratedRides: 23,
      vehicle: 'Prius, blue',
      plate: 'T 1',
      carType: 'comfort' as const,
      seats: 4,
      key: 'svc_driver_...a1B2',
      createdAt: '',
      suspendedAt: null,
      revokedAt: null,
    };
    expect(tableOf([driver, { ...driver, seats: 12, suspendedAt: 'x' }], 100)).to.deep.equal([
      'DRIVER ID              CAR      SEATS  KEY ENDS IN  STATE      NAME',
      'driver_1a2B3c4D5e6F7g  comfort  4      a1B2         active     a [31m b',
      '  rated 4.82 (23 rides, set to 5), Prius, blue, T 1',
      'driver_1a2B3c4D5e6F7g  comfort  12     a1B2         suspended  a [31m b',
      '  rated 4.82 (23 rides, set to 5), Prius, blue, T 1',
    ]);
    expect(tableOf([])).to.deep.equal(['No drivers. Make one: npm run -s drivers -- create --help']);
  });
});
