import DataLoader from 'dataloader';
import type mongoose from 'mongoose';
import { insertDocuments } from './mongo.ts';

/** So long a batch waits for the one before it: while MongoDB hangs, nothing may queue up behind what will not return. */
const patienceMs = 50;
const maxBatchSize = 200;

/**
 * Makes one operation out of those that are asked for at the same time: `run` is given the batch, and answers a value or
 * an Error for each, in order. What is asked joins only a batch that has not been sent, so a read always begins after it
 * was asked for. While one batch is under way the next one gathers; alone, an operation is sent at once.
 */
export function gather<Asked, Answer>(
  run: (batch: readonly Asked[]) => Promise<readonly (Answer | Error)[]>,
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
    if (underWay === 0) {
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

/** Finds documents by a unique text field, all that are asked for at the same time in one query; null where there is none. */
export function gatheredFind<Stored extends object, Found = Stored>(
  collection: mongoose.mongo.Collection<Stored>,
  field: keyof Stored & keyof Found & string,
  projection: object,
): (value: string) => Promise<Found | null> {
  return gather(async (values) => {
    const filter = { [field]: { $in: [...new Set(values)] } } as mongoose.mongo.Filter<Stored>;
    const found = (await collection.find(filter, { projection: { ...projection, [field]: 1 } }).toArray()) as Found[];
    const byValue = new Map(found.map((document) => [document[field] as unknown, document]));
    return values.map((value) => byValue.get(value) ?? null);
  });
}

/** Inserts documents, all that are asked for at the same time in one command; each succeeds or fails for itself. */
export function gatheredInsert<T extends object>(
  collection: mongoose.mongo.Collection<T>,
): (document: T) => Promise<null> {
  return gather<T, null>((documents) => insertDocuments(collection, documents));
}
