import { createRequire } from 'node:module';

type Send = (this: object, namespace: unknown, command: Record<string, unknown>, ...others: unknown[]) => unknown;

const requireOfMongoose = createRequire(createRequire(import.meta.url).resolve('mongoose'));
/** The driver does not export its connection class. */
const { Connection } = requireOfMongoose('mongodb/lib/cmap/connection.js') as {
  Connection: { prototype: { command: Send } };
};

/**
 * Resolves with the commands that this process sends to MongoDB for these collections while `run` runs, such as `find
 * rides`. A bulk write of several documents is one command, such as `bulkWrite positions`.
 */
export async function commandsOf(collections: readonly string[], run: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = [];
  const { command: send } = Connection.prototype;
  Connection.prototype.command = function (namespace, command, ...others) {
    const [name = ''] = Object.keys(command);
    const [bulk] = (command.nsInfo ?? []) as { ns: string }[];
    const collection = bulk ? bulk.ns.replace(/^[^.]*\./, '') : String(command[name]);
    if (collections.includes(collection)) sent.push(`${name} ${collection}`);
    return send.call(this, namespace, command, ...others);
  };
  try {
    await run();
  } finally {
    Connection.prototype.command = send;
  }
  return sent;
}
