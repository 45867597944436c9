import { once } from 'node:events';
import net from 'node:net';
import { setTimeout } from 'node:timers/promises';
import mongoose from 'mongoose';
import { serverOf } from './mongo-proxy.ts';
import { answer, type Document, type Message, onMessage } from './op-msg.ts';
import { uncommittedWrites } from './uncommitted-writes.ts';
import { connectUpstream, type Upstream } from './upstream.ts';
import { useStarted } from './use-started.ts';

/** The engine behind a proxy that simulates the primary of a replica set, because the engine has no replica sets. */
export type ReplicaSet = Awaited<ReturnType<typeof startReplicaSet>>;

export interface ReplicaSetOptions {
  /** The time that a write needs to reach the majority. */
  majorityMs?: number;
  /** If true, simulates a mongos instead of the primary of a replica set. */
  isMongos?: boolean;
  /** Called with every command of a client, unchanged. */
  onCommand?: (command: Document) => void;
}

const setName = 'rides';
const greetings = new Set(['hello', 'isMaster', 'ismaster']);
const writes = new Set(['insert', 'update', 'delete', 'findAndModify', 'bulkWrite']);
/** Fields of commands that the engine does not know. */
const ofReplicaSets = new Set(['lsid', 'txnNumber', '$clusterTime', '$readPreference', 'readConcern', 'writeConcern']);

/**
 * Like `describe`, but skipped if TEST_MONGO_URL replaces the embedded engine: the simulation works only in front of a
 * server without replication.
 */
export function describeOnEngine(title: string, suite: (this: Mocha.Suite) => void): void {
  if (process.env.TEST_MONGO_URL) describe.skip(title, suite);
  else describe(title, suite);
}

/** A replica set on the test run's engine, for the tests of the surrounding describe. */
export const useReplicaSet = (options?: ReplicaSetOptions): ReplicaSet =>
  useStarted(() => startReplicaSet(process.env.TEST_RUN_MONGO_URL ?? '', options));

/** Starts a proxy in front of the engine of `url`. */
export async function startReplicaSet(url: string, options: ReplicaSetOptions = {}) {
  const { majorityMs = 0, isMongos = false, onCommand } = options;
  const engine = await mongoose.mongo.MongoClient.connect(url);
  const uncommitted = uncommittedWrites(engine.db());
  const clients = new Set<net.Socket>();
  const servers: net.Server[] = [];
  /** The last write of each session. A retried write gets the same reply and is not executed again. */
  const retryable = new Map<string, { txnNumber: string; reply: Promise<Document> }>();
  let isPrimary = true;
  let term = 1;
  let held: { ended: Promise<void>; end: () => void; giveUpMs?: number } | undefined;
  /** Settles when the last of the turns below has ended. */
  let lastTurn: Promise<unknown> = Promise.resolve();

  async function reply(command: Document, upstream: Upstream, host: string): Promise<Document> {
    const [name = ''] = Object.keys(command);
    if (greetings.has(name)) return greeting(await upstream.ask({ ...plain(command), $db: 'admin' }), host);
    if (name === 'endSessions') return { ok: 1 };
    onCommand?.(command);
    if (!isPrimary) return notPrimary(command);
    if (writes.has(name)) return write(command, upstream);
    const isCommittedRead = command.readConcern?.level === 'majority';
    if (!isCommittedRead || !held) return upstream.ask(plain(command));
    return inTurn(() => (held ? uncommitted.read : askUpstream)(plain(command), upstream));
  }

  async function write(command: Document, upstream: Upstream): Promise<Document> {
    const made = await madeOnce(command, () => (held ? writeHeld(command, upstream) : upstream.ask(asEngine(command))));
    const { w, wtimeout } = command.writeConcern ?? {};
    if (Number(made.ok) !== 1 || w !== 'majority') return made;
    return (await reachesMajority(Number(wtimeout ?? 0))) ? made : { ...made, writeConcernError: timedOut };
  }

  function madeOnce({ lsid, txnNumber }: Document, make: () => Promise<Document>): Promise<Document> {
    if (!txnNumber) return make();
    const session = String(lsid.id);
    const before = retryable.get(session);
    if (before?.txnNumber === String(txnNumber)) return before.reply;
    const made = make();
    const forget = () => retryable.delete(session);
    made.then(({ ok }) => Number(ok) === 1 || forget(), forget);
    retryable.set(session, { txnNumber: String(txnNumber), reply: made });
    return made;
  }

  const writeHeld = (command: Document, upstream: Upstream): Promise<Document> =>
    inTurn(async () => {
      if (held) await uncommitted.note(command);
      return upstream.ask(asEngine(command));
    });

  /**
   * Runs the writes that may be rolled back, the committed reads beside them, and their end one after the other: a read
   * takes several commands, and nothing may change between them.
   */
  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const made = lastTurn.then(run);
    lastTurn = made.catch(() => {});
    return made;
  }

  /** Resolves with true when the majority has the writes, or with false after the client's wtimeout. */
  async function reachesMajority(wtimeoutMs: number): Promise<boolean> {
    const inTime = held?.giveUpMs ?? (wtimeoutMs || 2 ** 31 - 1);
    const giveUp = new AbortController();
    const reached = (held?.ended ?? setTimeout(majorityMs, undefined, giveUp)).then(() => true);
    const late = setTimeout(inTime, false, giveUp);
    for (const either of [reached, late]) either.catch(() => {});
    try {
      return await Promise.race([reached, late]);
    } finally {
      giveUp.abort();
    }
  }

  function greeting({ topologyVersion: _, ...hello }: Document, host: string): Document {
    const session = { logicalSessionTimeoutMinutes: 30 };
    if (isMongos) return { ...hello, ...session, msg: 'isdbgrid' };
    return {
      ...hello,
      ...session,
      isWritablePrimary: isPrimary,
      ismaster: isPrimary,
      secondary: !isPrimary,
      setName,
      setVersion: 1,
      hosts: [host],
      me: host,
      ...(isPrimary && {
        primary: host,
        electionId: new mongoose.mongo.ObjectId(`7fffffff${term.toString(16).padStart(16, '0')}`),
      }),
    };
  }

  async function serve(client: net.Socket, host: string): Promise<void> {
    clients.add(client);
    let busy: Promise<unknown> = Promise.resolve();
    const upstream = connectUpstream(serverOf(url), () => client.destroy());
    client.on('error', () => {});
    client.on('close', () => {
      clients.delete(client);
      // The command is executed to its end, even if the client does not wait for the answer.
      void busy.finally(() => upstream.end());
    });
    onMessage(client, (message: Message) => {
      busy = busy
        .then(() => reply(message.document, upstream, host))
        .then((document) => message.isLast || client.destroyed || client.write(answer(message, document)))
        .catch(() => client.destroy());
    });
  }

  async function listen(host?: string): Promise<net.AddressInfo> {
    const server = net.createServer({ noDelay: true }, (client) => {
      void serve(client, host ?? `127.0.0.1:${client.localPort}`);
    });
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server.address() as net.AddressInfo;
  }

  const { port } = await listen();
  const urlAt = (host: string) => `mongodb://${host}/rides${isMongos ? '' : `?replicaSet=${setName}`}`;
  return {
    /** A MONGO_URL for the same database. */
    url: urlAt(`127.0.0.1:${port}`),
    /** A MONGO_URL with another host. */
    urlAt,
    /** Opens another port of the same primary, which reports `host` as its address. */
    front: async (host: string) => (await listen(host)).port,
    /**
     * From now on no write reaches a majority, and committed reads return the state before. A client that waits for the
     * majority gets a WriteConcernTimeout after its own wtimeout, or after giveUpMs.
     */
    hold(giveUpMs?: number) {
      let end = () => {};
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      held ??= { ended, end, giveUpMs };
    },
    /** Lets the writes since `hold` reach the majority. */
    async release() {
      await inTurn(async () => {
        const { end } = held ?? {};
        held = undefined;
        await uncommitted.commit();
        end?.();
      });
    },
    /**
     * Closes all connections, refuses every command for forMs, and becomes the primary again. Rolls back the writes that
     * have not reached the majority.
     */
    async stepDown(forMs = 0) {
      isPrimary = false;
      for (const client of clients) client.destroy();
      await inTurn(async () => {
        if (held) {
          await uncommitted.rollBack();
          retryable.clear();
          held.end();
        }
        held = undefined;
      });
      await setTimeout(forMs);
      term += 1;
      isPrimary = true;
    },
    async close() {
      for (const server of servers) server.close();
      for (const client of clients) client.destroy();
      await inTurn(uncommitted.commit).catch(() => {}); // The engine may be gone.
      await engine.close();
    },
  };
}

const askUpstream = (command: Document, upstream: Upstream): Promise<Document> => upstream.ask(command);

const plain = (command: Document): Document =>
  Object.fromEntries(Object.entries(command).filter(([name]) => !ofReplicaSets.has(name)));

/**
 * Converts a command for the engine, which is a standalone. A majority write becomes one that waits for the journal: on
 * a standalone, `majority` would only trigger its flush.
 */
function asEngine(command: Document): Document {
  const { w, j } = command.writeConcern ?? {};
  const writeConcern = w === 'majority' ? { w: 1, j: true } : { w: 1, ...(j && { j }) };
  return { ...plain(command), writeConcern };
}

const notPrimary = ({ txnNumber }: Document): Document => ({
  ok: 0,
  code: 10_107,
  codeName: 'NotWritablePrimary',
  errmsg: 'not primary',
  ...(txnNumber && { errorLabels: ['RetryableWriteError'] }),
});

const timedOut = {
  code: 64,
  codeName: 'WriteConcernTimeout',
  errmsg: 'waiting for replication timed out',
  errInfo: { wtimeout: true },
};
