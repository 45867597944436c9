import DataLoader from 'dataloader';
import type mongoose from 'mongoose';
import { insertDocuments, type Update, updateDocuments } from './mongo/commands.ts';
import { timeLimit } from './mongo/durability.ts';

/** So long a batch waits for those before it: while MongoDB hangs, nothing may queue up behind what will not return. */
const patienceMs = 50;
const maxBatchSize = 200;
/** More than one, so that neither side waits for the other; few, since a batch saves what its operations share. */
const severalAtOnce = 4;
/** Of updates, which cost MongoDB most, larger batches save more than is waited for. */
const oneAtOnce = 1;

/**
 * Makes one operation out of those that are asked for at the same time: `run` is given the batch, and answers a value or
 * an Error for each, in order. What is asked joins only a batch that has not been sent, so a read always begins after it
 * was asked for. While `atOnce` batches are under way the next one gathers; alone, an operation is sent at once.
 */
export function batch<Asked, Answer>(
  run: (batch: readonly Asked[]) => Promise<readonly (Answer | Error)[]>,
  atOnce = severalAtOnce,
): (asked: Asked) => Promise<Answer> {
  let underWay = 0;
  let sendNext: (() => void)[] = [];

  async function send(batch: readonly Asked[]): Promise<readonly (Answer | Error)[]> {
    underWay += 1;
    try {
      return await run(batch);
    } finally {
      underWay -= 1;
      for (const sendIt of sendNext.splice(0)) sendIt();
    }
  }

  function schedule(dispatch: () => void): void {
    if (underWay < atOnce) {
      // After the turn of the event loop: what came in the same one goes along.
      setImmediate(dispatch);
      return;
    }
    const timer = setTimeout(() => sendIt(), patienceMs);
    const sendIt = () => {
      clearTimeout(timer);
      sendNext = sendNext.filter((other) => other !== sendIt);
      dispatch();
    };
    sendNext.push(sendIt);
  }

  const loader = new DataLoader(send, { cache: false, maxBatchSize, batchScheduleFn: schedule });
  return (asked) => loader.load(asked);
}

/**
 * Finds documents by a unique text field, all that are asked for at the same time in one query; null where there is none.
 * `options` is asked for each query: what it says may follow from the server that the process is connected to.
 */
export function batchedFind<Stored extends object, Found = Stored>(
  collection: mongoose.mongo.Collection<Stored>,
  field: keyof Stored & keyof Found & string,
  projection: object,
  options: () => mongoose.mongo.FindOptions = timeLimit,
): (value: string) => Promise<Found | null> {
  return batch((values) => findEach<Stored, Found>(collection, field, values, { ...options(), projection }));
}

/** For each value the document that has it, or null; a value may be asked for twice. */
async function findEach<Stored extends object, Found>(
  collection: mongoose.mongo.Collection<Stored>,
  field: keyof Stored & keyof Found & string,
  values: readonly string[],
  options: mongoose.mongo.FindOptions,
): Promise<(Found | null)[]> {
  const filter = { [field]: oneOf(values) } as mongoose.mongo.Filter<Stored>;
  const projection = { ...options.projection, [field]: 1 };
  // All in one answer: MongoDB's first batch would end after 101.
  const cursor = collection.find(filter, { ...options, projection, batchSize: values.length + 1 });
  const found = (await cursor.toArray()) as Found[];
  const byValue = new Map(found.map((document) => [document[field] as unknown, document]));
  return values.map((value) => byValue.get(value) ?? null);
}

/** The condition that a field has one of these values; of a single one in the form that MongoDB answers quickest. */
export function oneOf(values: readonly string[]): string | { $in: string[] } {
  const [first = '', ...others] = new Set(values);
  return others.length === 0 ? first : { $in: [first, ...others] };
}

/**
 * Changes documents by their `_id`, all that are asked for at the same time in one command. Each is changed for itself and
 * atomically; answered is what `projection` shows of it as it stands then or a little later, or null where the filter
 * matched nothing.
 */
export function batchedUpdate<Stored extends { _id: string }, Found extends { _id: string }>(
  collection: mongoose.mongo.Collection<Stored>,
  projection: object,
  { writeConcern }: { writeConcern?: () => mongoose.mongo.WriteConcernSettings } = {},
): (update: Update<Stored>) => Promise<Found | null> {
  return batch<Update<Stored>, Found | null>(async (updates) => {
    const [only, ...others] = updates;
    if (only && others.length === 0) {
      const concern = writeConcern && { writeConcern: writeConcern() };
      const after = { ...timeLimit(), ...concern, projection, returnDocument: 'after' } as const;
      return [(await collection.findOneAndUpdate(only.filter, only.change, after)) as Found | null];
    }
    const outcomes = await updateDocuments(collection, updates, writeConcern?.());
    const ids = updates.map(({ filter }) => filter._id);
    const found = await findEach<Stored, Found>(collection, '_id', ids, { ...timeLimit(), projection });
    return outcomes.map((outcome, index) => (outcome === true ? (found[index] ?? null) : outcome || null));
  }, oneAtOnce);
}

/** Inserts documents, all that are asked for at the same time in one command; each succeeds or fails for itself. */
export function batchedInsert<T extends object>(
  collection: mongoose.mongo.Collection<T>,
): (document: T) => Promise<null> {
  return batch<T, null>((documents) => insertDocuments(collection, documents));
}
