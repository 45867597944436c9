import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import mongoose from 'mongoose';
import { ops } from '../../../cli/ops/ops-commands.ts';
import { OperatorTokenModel } from '../../../shared/accounts/operator-token.ts';
import { AppError } from '../../../shared/base/errors.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { storeMail } from '../../../shared/mail/mail.ts';
import { mails } from '../../../shared/mail/mail-row.ts';
import {
  createBackupFolder,
  readDocuments,
  writeDocuments,
  writeManifest,
} from '../../../shared/process/backup/backup-files.ts';
import { brokenReferences } from '../../../shared/process/backup/check-references.ts';
import { restoreBackup } from '../../../shared/process/backup/restore-backup.ts';
import { inCopyOrder, writeBackup } from '../../../shared/process/backup/write-backup.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { countHeld } from '../../../shared/rides/held-rides.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { attempts } from '../../../shared/webhooks/attempts.ts';
import { redeliver } from '../../../shared/webhooks/redeliver.ts';
import { sweep } from '../../../workers/periodic/sweeper/sweep.ts';
import { runCommand } from '../../support/command-line.ts';
import { newGatewayDriver } from '../../support/drivers.ts';
import { endedRide } from '../../support/ended-rides.ts';
import { useFolder } from '../../support/folder.ts';
import { ownDatabase } from '../../support/own-database.ts';
import { newRide, rideIn } from '../../support/rides.ts';
import { startTestApi } from '../../support/service.ts';
import { outcomeOf, storedRide } from '../../support/stored-rides.ts';

describe('backup and restore', () => {
  const folder = useFolder();
  let made = 0;
  const newFolder = () => path.join(folder.path, `backup-${++made}`);

  /** Runs `work` with an API on an empty, migrated database. */
  async function inDatabase<T>(work: (api: Awaited<ReturnType<typeof startTestApi>>, url: string) => Promise<T>) {
    const { url } = await ownDatabase();
    await mongoose.disconnect();
    const api = await startTestApi({ MONGO_URL: url });
    try {
      return await work(api, url);
    } finally {
      await api.ctx.redis.flushall();
      await api.close();
    }
  }
  /** All documents by collection, with their types, but without what changes on its own. */
  async function contentOf(url: string): Promise<Record<string, string[]>> {
    const client = new mongoose.mongo.MongoClient(url, { promoteValues: false });
    try {
      const content: Record<string, string[]> = {};
      for (const { name } of await client.db().listCollections().toArray()) {
        if (['fences', 'operations', 'limits'].includes(name)) continue;
        const found = await client.db().collection(name).find({}).sort({ _id: 1 }).toArray();
        if (found.length > 0)
          content[name] = found.map((one) => mongoose.mongo.BSON.EJSON.stringify(one, { relaxed: false }));
      }
      return content;
    } finally {
      await client.close();
    }
  }
  const refusalOf = async (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'done',
      (error) => (error instanceof AppError ? error.message : Promise.reject(error)),
    );

  for (const key of [undefined, randomBytes(32)]) {
    it(`every document of finished rides is the same after ${key ? 'an encrypted' : 'a'} backup and its restore`, async () => {
      const to = newFolder();
      const before = await inDatabase(async (api, url) => {
        const partner = await api.partner('live');
        for (let count = 0; count < 3; count++) await endedRide(api.ctx, count + 1, { keyId: partner.keyId });
        await newGatewayDriver(api);
        const manifest = await writeBackup(url, to, key);
        expect(manifest.collections.map(({ name }) => name)).to.deep.equal(
          inCopyOrder(manifest.collections.map(({ name }) => name)),
        );
        expect(manifest.collections.find(({ name }) => name === 'rides')?.documents).to.equal(3);
        return contentOf(url);
      });
      const files = await fs.readdir(to);
      const stored = Buffer.concat(await Promise.all(files.map((file) => fs.readFile(path.join(to, file)))));
      expect(files.filter((file) => file.endsWith('.age')).length > 0).to.equal(key !== undefined);
      expect(stored.includes('Ada Lovelace')).to.equal(false);
      for (const file of files) expect((await fs.stat(path.join(to, file))).mode & 0o777, file).to.equal(0o600);
      await inDatabase(async (api, url) => {
        await mongoose.connection.db?.collection('accounts').deleteMany({});
        const { conflicts } = await restoreBackup(url, to, api.ctx.now(), key);
        expect(conflicts).to.deep.equal({});
        expect(await contentOf(url)).to.deep.equal(before);
      });
    });
  }

  it('a backup beside load restores without a broken reference, and holds the rides that were under way', async () => {
    const to = newFolder();
    const created = await inDatabase(async (api, url) => {
      const partners = await Promise.all(Array.from({ length: 6 }, () => api.partner('live')));
      const rideIds: string[] = [];
      let isDone = false;
      const { _id: accountId } = (await keys.findOne({ _id: partners[0]?.keyId })) as never;
      const load = partners.map(async ({ keyId }) => {
        for (let step = 0; !isDone; step++) {
          const status = (['bidding', 'in_progress', 'completed', 'driver_arriving'] as const)[step % 4];
          rideIds.push((await rideIn(api.ctx, status ?? 'bidding', { keyId, accountId })).rideId);
        }
      });
      while (rideIds.length < 40) await new Promise(setImmediate);
      const before = rideIds.length;
      await writeBackup(url, to);
      isDone = true;
      await Promise.all(load);
      expect(rideIds.length).to.be.above(before);
      return rideIds.slice(0, before);
    });
    await inDatabase(async (api, url) => {
      await mongoose.connection.db?.collection('accounts').deleteMany({});
      const { conflicts } = await restoreBackup(url, to, api.ctx.now());
      expect(conflicts).to.deep.equal({});
      const broken = (await brokenReferences()).filter(({ to }) => to !== 'accounts' && to !== 'drivers');
      expect(broken).to.deep.equal([]);
      expect(await rides.countDocuments({ _id: { $in: created } })).to.equal(created.length);
      const all = await rides.countDocuments({});
      // No event has been delivered, so every ride was under way.
      expect(await countHeld()).to.equal(all);
      expect(await rides.countDocuments({ unsettled: { $gt: 0 } })).to.equal(0);
    });
  });

  it('a held ride neither sends nor changes until restore --resume, and then continues as it was', async () => {
    const to = newFolder();
    const { rideId, bidding, before } = await inDatabase(async (api, url) => {
      const { keyId } = await api.partner('live');
      const { accountId } = (await keys.findOne({ _id: keyId })) as { accountId: string };
      const { rideId } = await rideIn(api.ctx, 'in_progress', { keyId, accountId });
      const bidding = await newRide(api.ctx, { keyId, accountId });
      const ended = await endedRide(api.ctx, 1, { keyId, accountId });
      await redeliver(api.ctx, { rideId: ended._id, seq: 1 }, { accountId });
      await storeMail(api.ctx.config, { to: 'a@rides.example', subject: 'x', text: 'y' } as never, api.ctx.now());
      await writeBackup(url, to);
      return { rideId, bidding, before: await storedRide(rideId) };
    });
    await inDatabase(async (api) => {
      const { ctx } = api;
      await mongoose.connection.db?.collection('accounts').deleteMany({});
      const restored = await runCommand(ops, ['restore', '--from', to, '--by', 'Grace'], ctx);
      expect(restored.text).to.include('2 rides are held').and.include(rideId).and.include(bidding);
      expect(restored.text).to.include('What was sent or changed after the backup is unknown to it');
      const held = await storedRide(rideId);
      expect(held).to.deep.include({
        timers: [],
        unsettled: -before.unsettled,
        held: { timers: before.timers, nextDueAt: before.nextDueAt },
      });
      expect(await outcomeOf(applyAction(ctx, rideId, { action: 'complete' }, 'anyone'))).to.equal('unavailable');
      const found = await sweep(ctx, { everything: true });
      expect(found).to.include({ timers: 0, deliveries: 0, attempts: 0, mails: 0, failed: 0 });
      expect(await mails.countDocuments({ dueAt: { $exists: true } })).to.equal(0);
      expect((await runCommand(ops, ['restore', '--check'], ctx)).text).to.match(/2 rides refer to missing drivers/);

      const resumed = await runCommand(ops, ['restore', '--resume', '--by', 'Grace'], ctx);
      expect(resumed.answer).to.deep.equal({ released: 2, others: 2 });
      expect(await storedRide(rideId)).to.deep.equal({ ...before, rev: before.rev + 1 });
      expect(await countHeld()).to.equal(0);
      expect(await attempts.countDocuments({ dueAt: { $exists: true } })).to.equal(1);
      const swept = await sweep(ctx, { everything: true });
      expect(swept).to.include({ deliveries: 1, attempts: 1, mails: 1, failed: 0 });
      expect(swept.timers).to.be.above(0);
      await applyAction(ctx, rideId, { action: 'complete' }, 'anyone');
      expect((await storedRide(rideId)).unsettled).to.equal(before.unsettled + 1);
    });
  });

  it('an event that is being resent again does not stop restore --resume, and is not sent a second time', async () => {
    await inDatabase(async ({ ctx, ...api }) => {
      const { keyId } = await api.key('live');
      const { accountId } = (await keys.findOne({ _id: keyId })) as { accountId: string };
      const ride = await endedRide(ctx, 1, { keyId, accountId });
      const resend = () => redeliver(ctx, { rideId: ride._id, seq: 1 }, { accountId });
      await resend();
      await storeMail(ctx.config, { to: 'a@rides.example', subject: 'x', text: 'y' } as never, ctx.now());
      const held = [{ $set: { heldDueAt: '$dueAt' } }, { $unset: 'dueAt' }];
      for (const collection of [attempts, mails] as const)
        await (collection as typeof mails).updateMany({ dueAt: { $exists: true } }, held);
      await resend();
      const resumed = await runCommand(ops, ['restore', '--resume', '--by', 'Grace'], ctx);
      expect(resumed.answer).to.deep.equal({ released: 0, others: 1 });
      expect(await attempts.countDocuments({ rideId: ride._id, dueAt: { $exists: true } })).to.equal(1);
      expect(await attempts.countDocuments({ heldDueAt: { $exists: true } } as never)).to.equal(0);
    });
  });

  it('a document that a unique index refuses is listed, and all others are restored', async () => {
    const to = newFolder();
    await createBackupFolder(to);
    async function* tokens() {
      const createdAt = new Date(0);
      for (const [_id, hash] of ['ab', 'ba', 'ca', 'dd'])
        yield { _id: `optoken_${_id}`, hash: String(hash), owner: 'anna', createdAt };
    }
    const file = await writeDocuments(to, 'operator_tokens', tokens());
    const at = new Date(0).toISOString();
    const collections = [{ name: 'operator_tokens', ...file }];
    await writeManifest(to, { format: 1, startedAt: at, endedAt: at, isEncrypted: false, collections });
    await inDatabase(async (api, url) => {
      await mongoose.connection.db?.collection('accounts').deleteMany({});
      const { conflicts } = await restoreBackup(url, to, api.ctx.now());
      expect(conflicts).to.deep.equal({ operator_tokens: ['optoken_c'] });
      expect(await OperatorTokenModel.countDocuments({})).to.equal(3);
    });
  });

  it('restore --check reports references to missing documents, and exits with code 1', async () => {
    await inDatabase(async ({ ctx, ...api }) => {
      const { keyId } = await api.key('live');
      const { accountId } = (await keys.findOne({ _id: keyId })) as { accountId: string };
      const [ride, other] = [
        await endedRide(ctx, 1, { keyId, accountId }),
        await endedRide(ctx, 1, { keyId, accountId }),
      ];
      await rides.updateMany({}, { $unset: { driver: 1 } });
      expect((await runCommand(ops, ['restore', '--check'], ctx)).text).to.equal(
        'No reference is broken.\nNo ride is held.',
      );
      await rides.deleteOne({ _id: other._id });
      await rides.updateOne({ _id: ride._id }, { $set: { keyId: 'key_gone', replacedBy: 'ride_gone' } });
      const { code, text } = await runCommand(ops, ['restore', '--check'], ctx);
      expect(code).to.equal(1);
      expect(text).to.match(new RegExp(`^1 rides refer to missing keys: ${ride._id}$`, 'm'));
      expect(text).to.match(new RegExp(`^1 rides refer to missing successors: ${ride._id}$`, 'm'));
      expect(text).to.match(/^\d+ attempts refer to missing rides: /m);
    });
  });

  describe('refusals', () => {
    const key = randomBytes(32);
    let plain: string;
    let encrypted: string;
    before(async () => {
      [plain, encrypted] = [newFolder(), newFolder()];
      await inDatabase(async (api, url) => {
        await api.key();
        for (let count = 0; count < 3; count++) await endedRide(api.ctx, 1);
        await writeBackup(url, plain);
        await writeBackup(url, encrypted, key);
      });
    });

    const restoring =
      (change: (copy: string) => Promise<unknown>, from: () => string, withKey?: Buffer) => async () => {
        const copy = newFolder();
        await fs.cp(from(), copy, { recursive: true });
        await change(copy);
        return inDatabase(async (api, url) => {
          await mongoose.connection.db?.collection('accounts').deleteMany({});
          const refusal = await refusalOf(restoreBackup(url, copy, api.ctx.now(), withKey));
          expect(await rides.countDocuments({})).to.equal(0);
          return refusal;
        });
      };
    const flip = (file: string) => async (copy: string) => {
      const name = path.join(copy, file);
      const bytes = await fs.readFile(name);
      bytes[bytes.length - 40] = (bytes[bytes.length - 40] ?? 0) ^ 1;
      await fs.writeFile(name, bytes);
    };
    const nothing = async () => {};

    it('a changed file is refused before anything is restored', async () => {
      expect(await restoring(flip('rides.bson.gz'), () => plain)()).to.match(/does not have the checksum/);
      expect(await restoring(flip('rides.bson.gz.age'), () => encrypted, key)()).to.match(/does not have the checksum/);
    });

    it('another key, and a change at any place of a file or at its end, stop the decryption of the file', async () => {
      const folder = newFolder();
      await fs.mkdir(folder);
      const written = Array.from({ length: 100 }, (_, _id) => ({ _id, text: randomBytes(2_000) }));
      const { file } = await writeDocuments(folder, 'some', Readable.from(written), key);
      const name = path.join(folder, file);
      const bytes = await fs.readFile(name);
      const readAll = async (given: Buffer) => {
        let count = 0;
        for await (const _ of readDocuments(folder, { name: 'some', file }, given)) count += 1;
        return count;
      };
      expect(await readAll(key)).to.equal(written.length);
      expect(await refusalOf(readAll(randomBytes(32)))).to.match(/does not decrypt/);
      const changed = (at: number) => bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));
      const head = bytes.indexOf('\n', bytes.indexOf('\n--- ') + 1) + 17;
      const shortened = [10, head, head + 65_552, bytes.length - 1].map((length) => bytes.subarray(0, length));
      for (const damaged of [...[0, 30, head - 1, 100_000, bytes.length - 1].map(changed), ...shortened]) {
        await fs.writeFile(name, damaged);
        expect(await refusalOf(readAll(key))).to.match(/does not decrypt/);
      }
    });

    it('a changed manifest of an encrypted backup is refused', async () => {
      const edit = async (copy: string) => {
        const file = path.join(copy, 'manifest.json');
        await fs.writeFile(file, (await fs.readFile(file, 'utf8')).replace('"documents": 3', '"documents": 2'));
      };
      expect(await restoring(edit, () => encrypted, key)()).to.equal('manifest.json does not fit this key');
    });

    it('an incomplete backup, a missing key and another key are refused', async () => {
      const unfinished = (copy: string) => fs.rm(path.join(copy, 'manifest.json'));
      expect(await restoring(unfinished, () => plain)()).to.match(/it is no complete backup$/);
      expect(await restoring(nothing, () => encrypted)()).to.match(/--key-file is needed$/);
      expect(await restoring(nothing, () => encrypted, randomBytes(32))()).to.match(/does not fit this key$/);
      expect(await restoring(nothing, () => plain, key)()).to.match(/is not encrypted/);
    });

    it('a database with documents is refused, and so is a folder with content', async () => {
      await inDatabase(async (api, url) => {
        await api.key();
        expect(await refusalOf(restoreBackup(url, plain, api.ctx.now()))).to.match(/^The database is not empty/);
        expect(await refusalOf(writeBackup(url, plain))).to.match(/is not empty$/);
      });
    });

    it('a folder that cannot be written is named with the reason, and the operator is asked to delete the backup', async () => {
      await inDatabase(async (_api, url) => {
        const unwritable = path.join(plain, 'manifest.json', 'backup');
        expect(await refusalOf(writeBackup(url, unwritable))).to.equal(
          `${unwritable} cannot be written (ENOTDIR): this backup is incomplete, so delete it`,
        );
      });
    });
  });
});
