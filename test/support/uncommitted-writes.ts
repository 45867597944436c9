import type mongoose from 'mongoose';
import type { Document } from './op-msg.ts';
import type { Upstream } from './upstream.ts';

type Collection = mongoose.mongo.Collection<{ _id: string }>;

/**
 * The writes that no majority has. Keeps a copy of each document from before such a write, in a separate collection.
 */
export type UncommittedWrites = ReturnType<typeof uncommittedWrites>;

const copiesOf = (collection: string): string => `${collection}_as_committed`;

export function uncommittedWrites(db: mongoose.mongo.Db) {
  /** The documents of each collection that were changed. */
  const changed = new Map<string, Set<string>>();
  const open = (name: string) => db.collection(name) as unknown as Collection;

  async function keep(collection: string, filter: Document, inserted: string[] = []): Promise<void> {
    const before = changed.get(collection) ?? new Set();
    const found = await open(collection)
      .find(filter, { projection: { _id: 1 } })
      .toArray();
    const first = found.map(({ _id }) => _id).filter((id) => !before.has(id));
    await copy(collection, copiesOf(collection), first);
    changed.set(collection, new Set([...before, ...first, ...inserted]));
  }

  async function copy(from: string, into: string, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await open(from)
      .aggregate([{ $match: { _id: { $in: ids } } }, { $merge: { into } }])
      .toArray();
  }

  async function forget(): Promise<void> {
    for (const collection of changed.keys()) await open(copiesOf(collection)).drop();
    changed.clear();
  }

  return {
    /** Copies the documents that a command is about to change. */
    async note(command: Document) {
      for (const { collection, filter, inserted } of targetsOf(command)) await keep(collection, filter, inserted);
    },
    /** Answers a find with the state that the majority has. */
    async read(command: Document, upstream: Upstream) {
      const ids = [...(changed.get(command.find) ?? [])];
      if (command.find === undefined) throw new Error('committed reads support only find');
      const unchanged = { $and: [command.filter ?? {}, { _id: { $nin: ids } }] };
      const reply = await upstream.ask({ ...command, filter: unchanged });
      const kept = await upstream.ask({ ...command, find: copiesOf(command.find) });
      reply.cursor?.firstBatch.push(...(kept.cursor?.firstBatch ?? []));
      return reply;
    },
    /** Makes all writes committed: the majority has them. */
    commit: forget,
    /** Undoes all writes. */
    async rollBack() {
      for (const [collection, ids] of changed) {
        await open(collection).deleteMany({ _id: { $in: [...ids] } });
        await copy(copiesOf(collection), collection, [...ids]);
      }
      await forget();
    },
  };
}

/** The documents that a write may change. */
function targetsOf(command: Document): { collection: string; filter: Document; inserted?: string[] }[] {
  if (command.insert) {
    const inserted = command.documents.map(({ _id }: Document) => _id);
    return [{ collection: command.insert, filter: { _id: { $in: inserted } }, inserted }];
  }
  if (command.findAndModify) return [{ collection: command.findAndModify, filter: command.query }];
  if (command.bulkWrite) {
    return command.ops.map(({ update, filter }: Document) => {
      const [, collection] = command.nsInfo[Number(update)].ns.split('.');
      return { collection, filter };
    });
  }
  const collection = command.update ?? command.delete;
  return (command.updates ?? command.deletes).map(({ q }: Document) => ({ collection, filter: q }));
}
