import { database } from '../../base/mongo/connect-mongo.ts';

const limitMs = 1_000;

/** The used share of the disk on which MongoDB keeps its data. Undefined if MongoDB does not report it. */
export async function mongoDiskShare(): Promise<number | undefined> {
  const { fsUsedSize, fsTotalSize } = await database().command({ dbStats: 1, maxTimeMS: limitMs });
  return fsTotalSize > 0 ? fsUsedSize / fsTotalSize : undefined;
}

/** The time of the last successful backup (`ops backup`). Undefined if there has been none. */
export async function lastBackupAt(): Promise<Date | undefined> {
  const backup = await database()
    .collection<{ _id: string; at: Date }>('operations')
    .findOne({ _id: 'backup' }, { maxTimeMS: limitMs });
  return backup?.at;
}
