import { once } from 'node:events';
import net from 'node:net';
import { useStarted } from './use-started.ts';

export type MongoProxy = Awaited<ReturnType<typeof startMongoProxy>>;

export interface CutWrite {
  /** True once the write with the number `at` has occurred and its connection is closed. */
  readonly hasHappened: boolean;
  /** Stops counting: closes no connection from now on. */
  end(): void;
}

type Cut = { command: Buffer; answer: boolean; done: () => void };

/** A proxy in front of the MongoDB of `url` that loses requests, answers and connections. */
export async function startMongoProxy(url: string) {
  const pairs = new Set<[net.Socket, net.Socket]>();
  let cut: Cut | undefined;
  let hanging = false;
  let delayMs = 0;
  let countdown: { left: number; cut: Omit<Cut, 'command'> } | undefined;

  const server = net.createServer((client) => {
    const upstream = net.connect(serverOf(url));
    const pair: [net.Socket, net.Socket] = [client, upstream];
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    let cutHere: Cut | undefined;
    for (const socket of pair) socket.on('error', () => {}).on('close', end);
    client.on('data', (bytes) => {
      if (hanging) return;
      if (countdown && isWrite(bytes)) {
        countdown.left -= 1;
        if (countdown.left === 0) cut = { ...countdown.cut, command: bytes };
      }
      if (cut && bytes.includes(cut.command)) {
        cutHere = cut;
        cut = undefined;
        if (!cutHere.answer) {
          end();
          cutHere.done();
          return;
        }
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (hanging) return;
      if (!cutHere) {
        if (delayMs) setTimeout(() => client.write(bytes), delayMs);
        else client.write(bytes);
        return;
      }
      end();
      cutHere.done();
    });
  });
  const cutNext = (collection: string, answer: boolean) =>
    new Promise<void>((done) => {
      cut = { command: insertInto(collection), answer, done };
    });
  const cutAll = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  const goAway = async () => {
    const closed = server.listening && once(server, 'close');
    server.close();
    cutAll();
    await closed;
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  return {
    // The interval of 10 ms makes lost connections cheap: by default the driver checks a server every 500 ms, so each
    // one would cost half a second.
    /** A MONGO_URL that leads through this proxy to the same database. */
    url: `${throughProxy(url, `127.0.0.1:${port}`)}&minHeartbeatFrequencyMS=10`,
    /**
     * Forwards the next insert into `collection`, drops its answer and closes the connection. Resolves when that has
     * happened.
     */
    cutAnswerOfInsert: (collection: string) => cutNext(collection, true),
    /** Closes the connection of the next insert into `collection`, before the server receives the insert. */
    cutInsert: (collection: string) => cutNext(collection, false),
    /**
     * Counts the writes from now on, and closes the connection of write number `at` (from 1). By default the server has
     * then executed the write; with `before`, the server has not received it.
     */
    cutWrite(at: number, when: 'before' | 'after' = 'after') {
      let hasHappened = false;
      const done = () => {
        hasHappened = true;
      };
      countdown = { left: at, cut: { answer: when === 'after', done } };
      return {
        get hasHappened() {
          return hasHappened;
        },
        end() {
          countdown = undefined;
        },
      };
    },
    /** Stops forwarding in both directions, without closing any connection. */
    hang: () => {
      hanging = true;
    },
    /** Delays every answer from now on. */
    delayAnswers: (ms: number) => {
      delayMs = ms;
    },
    /** Closes every connection and refuses new ones. */
    goAway,
    close: goAway,
  };
}

/** A proxy in front of the test run's MongoDB, for the tests of the surrounding describe. */
export const useMongoProxy = (): MongoProxy => useStarted(() => startMongoProxy(process.env.TEST_RUN_MONGO_URL ?? ''));

/** The address of the same database with the same user, through the proxy at `host`. */
export function throughProxy(url: string, host: string): string {
  const [, user = '', database, options = ''] = /^mongodb:\/\/([^/]*@)?[^/]+\/([^?]*)\??(.*)$/.exec(url) ?? [];
  const search = new URLSearchParams(options);
  search.delete('replicaSet');
  search.set('directConnection', 'true');
  return `mongodb://${user}${host}/${database}?${search}`;
}

/**
 * The listening address of the server in a MONGO_URL: a Unix socket, with an encoded path, or a port. Of several servers,
 * it is the first.
 */
export function serverOf(url: string): net.NetConnectOpts {
  const server = decodeURIComponent(/^mongodb:\/\/(?:[^/]*@)?([^/,]+)/.exec(url)?.[1] ?? '');
  if (server.includes('/')) return { path: server };
  const { hostname, port } = new URL(`tcp://${server}`);
  return { host: hostname, port: Number(port || 27_017) };
}

/** The first bytes of an insert command in BSON: a string element `insert` with the collection's name. */
function insertInto(collection: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32LE(collection.length + 1);
  return Buffer.concat([Buffer.from('\u0002insert\u0000'), length, Buffer.from(`${collection}\u0000`)]);
}

const writes = new Set(['insert', 'update', 'delete', 'findAndModify', 'bulkWrite']);

/** True if a message of the driver is a write. The first element of its document names the command. */
function isWrite(message: Buffer): boolean {
  const nameStart = 16 + 4 + 1 + 4 + 1;
  return writes.has(message.toString('latin1', nameStart, message.indexOf(0, nameStart)));
}
