import { setTimeout } from 'node:timers/promises';
import { rides } from '../../../shared/rides/ride.ts';
import { startOperatorServer } from '../../support/operator-server.ts';
import { answerWithRoad } from '../../support/router.ts';
import { assertCount, type Bench, type Measurement } from '../bench.ts';
import { newKeys } from '../data/keys.ts';
import { creation } from '../data/requests.ts';
import { cpuByProgram } from '../measured/cpu-by-program.ts';
import { usesOfEach } from '../paths/create.ts';
import { watchBacklog } from './watch-backlog.ts';
import { rideSeconds, startAll } from './whole-rides.ts';

const answerMs = 20;

/** The CPU of whole test rides with a routing server that answers in 20 ms, compared with none, in turns. */
export const roads: Measurement = async (bench) => {
  const router = await startOperatorServer((request, response) => {
    void setTimeout(answerMs).then(() => answerWithRoad(request, response));
  });
  const env = { ROUTING_URL: `${router.origin}/route/v1/driving` };
  const used: { without: number[]; with: number[] } = { without: [], with: [] };
  let others = 0;
  try {
    for (const how of ['without', 'with', 'with', 'without'] as const) {
      bench.say(`roads: ${bench.ridesPerSecond} rides a second ${how} a routing server`);
      const measured = await cpuOfRides(bench, how === 'with' ? env : {});
      used[how].push(measured.perRideMs);
      others = Math.max(others, measured.othersShare);
    }
  } finally {
    router.close();
  }
  const name = `whole rides at ${bench.ridesPerSecond} a second, CPU`;
  const [floor, service] = [used.without, used.with];
  return [{ name, unit: 'ms a ride', service, floor, goal: '<= 1.03', others }];
};

/** The CPU of the service, MongoDB and Redis for a whole ride. Each test ride must have the road of its last leg. */
async function cpuOfRides(bench: Bench, env: NodeJS.ProcessEnv) {
  const { stack, ridesPerSecond: perSecond, quick } = bench;
  const { load, api, services, receiver } = await startAll(bench, env);
  const phases = [
    { perSecond, seconds: rideSeconds + 1 },
    { perSecond, seconds: quick ? 8 : 30 },
  ];
  const keys = await newKeys(Math.ceil((perSecond * 50) / usesOfEach), 'test', receiver.url);
  const loaded = load.open(api, { connections: 64, requests: keys.map((key) => creation(key)), phases });
  await setTimeout((rideSeconds + 1) * 1_000);
  const cpu = await cpuByProgram(stack, services);
  await setTimeout((phases[1]?.seconds ?? 0) * 1_000);
  const { perSecondMs, othersShare } = await cpu.stop();
  await loaded;
  const backlog = watchBacklog();
  await backlog.waitUntilGone(120_000);
  backlog.stop();
  const count = await rides.countDocuments({});
  const withRoad = await rides.countDocuments({ 'route.road': { $exists: true } });
  assertCount(env.ROUTING_URL ? count : 0, withRoad, 'rides with a road');
  await stack.clean();
  const ms = perSecondMs.filter(([who]) => who !== 'the bench itself').reduce((sum, [, each]) => sum + each, 0);
  return { perRideMs: ms / perSecond, othersShare };
}
