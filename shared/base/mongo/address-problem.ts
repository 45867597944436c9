import mongoose from 'mongoose';

/**
 * Why no connection came about at the start, as text that reads on after "Setting MONGO_URL". It names hosts and ports at
 * most: the rest of the address may hold a password.
 */
export function addressProblem(error: unknown): string {
  const { name, code, codeName } = error as { name: string; code?: string | number; codeName?: string };
  if (error instanceof mongoose.mongo.MongoServerSelectionError) return `: no MongoDB ${whereSought(error)}`;
  if (name === 'MongoParseError' || name === 'TypeError') return ' is not a valid connection string';
  if (code === 'ENOTFOUND') return ': DNS does not know its host (ENOTFOUND)';
  return `: MongoDB refuses the connection (${[name, code, codeName].filter(Boolean).join(' ')})`;
}

/** Which servers were asked, with how each failed. The driver drops those that are not of the wanted replica set. */
function whereSought({ reason }: mongoose.mongo.MongoServerSelectionError): string {
  const servers = [...((reason as mongoose.mongo.TopologyDescription | undefined)?.servers.values() ?? [])];
  if (servers.length === 0) return 'there is of its replica set';
  const isAnswering = servers.some(({ type }) => type !== 'Unknown');
  const asked = servers.map(({ address, error }) => {
    const code = (error?.cause as { code?: string } | undefined)?.code;
    return code ? `${address} (${code})` : address;
  });
  return `${isAnswering ? 'is the primary' : 'answers'} at ${asked.join(', ')}`;
}
