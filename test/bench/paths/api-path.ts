import { assertAll, type Bench, type Measurement } from '../bench.ts';
import type { ClosedLoad, LoadResult } from '../load/load.ts';
import { cpuByProgram } from '../measured/cpu-by-program.ts';
import type { ListeningProgram } from '../measured/program.ts';
import type { Figure, Goal } from '../report.ts';
import type { Load } from '../stack.ts';

const connectionCounts = [1, 16, 64] as const;
type Connections = (typeof connectionCounts)[number];

/** A path of the API, measured with the same requests as its floor. */
export interface ApiPath {
  name: string;
  status: number;
  cpuGoals: Record<Connections, number>;
  rateGoals: Record<Connections, number>;
  /** Inserts the data that the requests of a round need. The result's `check` throws unless the work was done. */
  prepare(bench: Bench, who: Who, seconds: number): Promise<PreparedLoad>;
}

export type Who = 'service' | 'floor';
export type PreparedLoad = Pick<ClosedLoad, 'requests' | 'usesOfEach'> & { check?(result: LoadResult): Promise<void> };

interface Round {
  cpuUs: number;
  mongoUs: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  others: number;
}

/** Measures the service and the floor alternately, on the same servers, for each number of connections. */
export function apiPath(path: ApiPath): Measurement {
  return async (bench) => {
    const { stack, say } = bench;
    const seconds = bench.quick ? 0.5 : 2;
    const load = await stack.startLoad();
    const programs: Record<Who, ListeningProgram> = {
      service: await stack.startApi(),
      floor: await stack.startListening('floor', `test/bench/floor/${path.name}`),
    };
    const run = async (who: Who, connections: number) =>
      measure(bench, path, load, programs[who], who, connections, seconds);
    say(`${path.name}: warm-up`);
    for (let again = bench.quick ? 1 : 2; again > 0; again--) {
      await run('service', 64);
      await run('floor', 64);
    }

    const figures: Figure[] = [];
    for (const connections of connectionCounts) {
      const rounds: Record<Who, Round[]> = { service: [], floor: [] };
      for (let round = 1; round <= bench.rounds; round++) {
        say(`${path.name} at ${connections}: round ${round} of ${bench.rounds}`);
        rounds.service.push(await run('service', connections));
        rounds.floor.push(await run('floor', connections));
      }
      figures.push(...figuresOf(path, connections, rounds));
    }
    return figures;
  };
}

async function measure(
  bench: Bench,
  path: ApiPath,
  load: Load,
  program: ListeningProgram,
  who: Who,
  connections: number,
  seconds: number,
): Promise<Round> {
  const { requests, usesOfEach, check } = await path.prepare(bench, who, seconds);
  const cpu = await cpuByProgram(bench.stack, [program]);
  const profiled = who === 'service' ? [program] : [];
  const stopProfile = await bench.profiles.start(`${path.name} at ${connections}`, profiled);
  const result = await load.closed(program, { connections, seconds, requests, usesOfEach });
  await stopProfile();
  const { usOf, othersShare: others } = await cpu.stop();
  assertAll(path.status, result, `${path.name}, ${who}`);
  await check?.(result);
  return {
    cpuUs: usOf(program.name) / result.operations,
    mongoUs: usOf('MongoDB') / result.operations,
    perSecond: result.operations / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    others,
  };
}

function figuresOf({ name, cpuGoals, rateGoals }: ApiPath, at: Connections, rounds: Record<Who, Round[]>): Figure[] {
  const others = Math.max(...[...rounds.service, ...rounds.floor].map((round) => round.others));
  const figure = (what: string, unit: string, of: (round: Round) => number, goal?: Goal): Figure => ({
    name: `${name} at ${at}, ${what}`,
    unit,
    service: rounds.service.map(of),
    floor: rounds.floor.map(of),
    goal,
    others,
  });
  return [
    figure('CPU', 'us each', ({ cpuUs }) => cpuUs, `<= ${cpuGoals[at]}`),
    figure('rate', 'a second', ({ perSecond }) => perSecond, `>= ${rateGoals[at]}`),
    figure('p50', 'ms', ({ p50Ms }) => p50Ms),
    figure('p99', 'ms', ({ p99Ms }) => p99Ms),
    figure('CPU of MongoDB', 'us each', ({ mongoUs }) => mongoUs),
  ];
}
