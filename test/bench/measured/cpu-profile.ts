import { type Profiler, Session } from 'node:inspector/promises';

/** Shares of this process's busy CPU time, by package or kind of code, largest first. */
export type CpuShares = [where: string, share: number][];

let session: Session | undefined;

export async function startProfile(): Promise<void> {
  session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 500 });
  await session.post('Profiler.start');
}

export async function stopProfile(): Promise<CpuShares> {
  if (!session) throw new Error('no profile was started');
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  return sharesOf(profile);
}

/** Sums the self time of each function (without the functions that it calls) by the package of the function. */
function sharesOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): CpuShares {
  const whereOf = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const spent = new Map<string, number>();
  for (const [index, sample] of samples.entries()) {
    const where = whereOf.get(sample) ?? 'unknown';
    if (where !== 'idle') spent.set(where, (spent.get(where) ?? 0) + (timeDeltas[index] ?? 0));
  }
  const total = [...spent.values()].reduce((sum, time) => sum + time, 0);
  return [...spent].map(([where, time]): [string, number] => [where, time / total]).sort((a, b) => b[1] - a[1]);
}

function placeOf({ url, functionName }: { url: string; functionName: string }): string {
  // The inspector's own work for the profile does not count either.
  if (functionName === '(idle)' || (url === '' && functionName === 'dispatch')) return 'idle';
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (functionName === '(program)') return 'native code and system';
  const inPackage = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url);
  if (inPackage) return inPackage[1] ?? '';
  const ofNode = /^node:(?:internal\/)?_?([a-z]+)/.exec(url);
  if (ofNode) return `node:${ofNode[1]}`;
  const ofService = /\/\.cache\/[^/]+\/(api|shared|workers)\//.exec(url);
  return ofService ? `the service, ${ofService[1]}/` : `native: ${functionName}`;
}
