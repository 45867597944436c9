import fs from 'node:fs/promises';
import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { type Manifest, readBackupKey } from '../../shared/process/backup/backup-files.ts';
import { type BrokenReferences, brokenReferences } from '../../shared/process/backup/check-references.ts';
import { releaseHeldWork, restoreBackup } from '../../shared/process/backup/restore-backup.ts';
import { writeBackup } from '../../shared/process/backup/write-backup.ts';
import { UsageError } from '../../shared/process/command-line.ts';
import { countHeld, listHeld, releaseRide } from '../../shared/rides/held-rides.ts';
import { aligned } from '../columns.ts';
import { recordAudit } from '../operator.ts';
import { commandOf } from '../program.ts';

const command = commandOf<Context>();
const shownHeld = 20;

export const backupCommands = {
  backup: command({
    summary: 'copies all data into a folder',
    needed: { '--to <DIR>': 'a folder that is empty or does not exist' },
    options: { '--key-file <FILE>': '32 bytes in base64; encrypts the files in the format of age' },
    about: `Copies all collections of MongoDB into a new folder while
the service runs, compressed, with a manifest of counts and
checksums. With --key-file, the files are encrypted. Redis
and SECRETS_KEY are not part of a backup.`,
    examples: [
      `PROGRAM backup \\
    --to /backup/2026-11-05 --key-file backup.key`,
    ],
    read: ({ to, keyFile }) => ({ to, file: keyFile }),
    recorded: 'if known',
    async run(ctx, { to, file }, by) {
      const manifest = await writeBackup(ctx.config.secrets.mongoUrl, to, await readKey(file));
      await recordAudit(ctx.now(), by, { action: 'backed_up' });
      return { folder: to, ...summaryOf(manifest) };
    },
    print: ({ folder, documents, bytes, collections, isEncrypted }) => [
      ...aligned([['COLLECTION', 'DOCUMENTS'], ...collections.map(({ name, documents }) => [name, String(documents)])]),
      `Copied ${documents} documents (${megabytes(bytes)}${isEncrypted ? ', encrypted' : ''}) to ${folder}.`,
      'Keep SECRETS_KEY separately: the secrets in the backup need it.',
    ],
  }),
  restore: command({
    summary: 'restores a backup, checks it or resumes its rides',
    options: {
      '--from <DIR>': 'restores this backup',
      '--key-file <FILE>': 'the key of an encrypted backup',
      '--check': 'lists references to missing documents and held rides; exits with code 1 if a reference is broken',
      '--resume': 'releases the held rides',
    },
    about: `Restores a backup into an empty database, after migrate and
while no other process of the service runs. Rides that were
under way are held: nothing changes them, and their timers
and events wait. What was sent after the backup is unknown
to it: the service would send these events again.`,
    examples: ['PROGRAM restore --from /backup/2026-11-05', 'PROGRAM restore --check', 'PROGRAM restore --resume'],
    read({ from, check, resume, keyFile: file }) {
      if ([from, check, resume].filter((one) => one !== undefined).length !== 1)
        throw new UsageError('restore needs one of --from DIR, --check and --resume');
      if (file !== undefined && from === undefined) throw new UsageError('--key-file needs --from DIR');
      return { from, check, resume, file };
    },
    recorded: ({ check }) => (check ? 'never' : 'by name'),
    async run(ctx, { from, check, file }, by): Promise<RestoreAnswer> {
      const { mongoUrl } = ctx.config.secrets;
      if (from !== undefined) {
        const { manifest, conflicts } = await restoreBackup(mongoUrl, from, ctx.now(), await readKey(file));
        await recordAudit(ctx.now(), by, { action: 'restored' });
        return { restored: summaryOf(manifest), conflicts, ...(await state()) };
      }
      if (check) return state();
      const released = await releaseAll();
      const others = await releaseHeldWork(mongoUrl);
      await recordAudit(ctx.now(), by, { action: 'rides_released', about: `${released} rides` });
      return { released, others };
    },
    hasFailed: (answer) => 'broken' in answer && answer.broken.length > 0,
    print: restoreLines,
  }),
};

async function readKey(file: string | undefined): Promise<Buffer | undefined> {
  if (file === undefined) return undefined;
  const text = await fs.readFile(file, 'utf8').catch(() => {
    throw new AppError('invalid_request', { message: `The key file ${file} cannot be read` });
  });
  return readBackupKey(text);
}

function summaryOf({ startedAt, endedAt, isEncrypted, collections }: Manifest) {
  const sum = (field: 'documents' | 'bytes') => collections.reduce((all, one) => all + one[field], 0);
  return {
    ...{ startedAt, endedAt, isEncrypted, documents: sum('documents'), bytes: sum('bytes') },
    collections: collections.map(({ name, documents }) => ({ name, documents })),
  };
}

type HeldRide = Awaited<ReturnType<typeof listHeld>>[number];
interface State {
  broken: BrokenReferences;
  held: number;
  heldRides: HeldRide[];
}
type RestoreAnswer =
  | ({ restored: ReturnType<typeof summaryOf>; conflicts: Record<string, string[]> } & State)
  | State
  | { released: number; others: number };

const state = async (): Promise<State> => ({
  broken: await brokenReferences(),
  held: await countHeld(),
  heldRides: await listHeld(shownHeld),
});

async function releaseAll(): Promise<number> {
  for (let released = 0; ; ) {
    const batch = await listHeld(500);
    for (const { _id } of batch) released += Number(await releaseRide(_id));
    if (batch.length < 500) return released;
  }
}

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

function restoreLines(answer: RestoreAnswer): string[] {
  if ('released' in answer) {
    const { released, others } = answer;
    return [
      `Released ${released} rides and ${others} redeliveries, test events, mails and text messages.`,
      'Events that were sent after the backup are sent again, with the same X-Service-Event-Id.',
      'Run sweep, which adds their jobs.',
    ];
  }
  const references = answer.broken.length > 0 ? brokenLines(answer.broken) : ['No reference is broken.'];
  if (!('restored' in answer)) return [...references, ...heldLines(answer)];
  const { restored, conflicts } = answer;
  return [
    `Restored ${restored.documents} documents of the backup that was begun at ${restored.startedAt}.`,
    ...Object.entries(conflicts).map(
      ([name, ids]) => `Not restored, because they conflict, in ${name}: ${ids.join(' ')}`,
    ),
    ...references,
    ...heldLines(answer),
    'What was sent or changed after the backup is unknown to it. Ask partners which rides they have continued.',
    'Keys, tokens and members that were revoked or removed after the backup are valid again: revoke them again.',
  ];
}

const brokenLines = (broken: BrokenReferences): string[] =>
  broken.map(({ from, to, count, first }) => `${count} ${from} refer to missing ${to}: ${first.join(' ')}`);

function heldLines({ held, heldRides }: State): string[] {
  if (held === 0) return ['No ride is held.'];
  const rows = heldRides.map(({ _id, status, unsettled }) => [_id, status, String(Math.abs(unsettled))]);
  return [
    `${held} rides are held, until restore --resume:`,
    ...aligned([['RIDE', 'STATUS', 'EVENTS TO SEND'], ...rows]),
    ...(held > rows.length ? [`and ${held - rows.length} more`] : []),
  ];
}
