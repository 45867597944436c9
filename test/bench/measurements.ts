import type { Measurement } from './bench.ts';
import { delivery } from './delivery/delivery.ts';
import { firstByte } from './delivery/first-byte.ts';
import { twoProcesses } from './delivery/two-processes.ts';
import { fleet } from './drivers/fleet.ts';
import { freed } from './drivers/freed.ts';
import { idleDrivers } from './drivers/idle-drivers.ts';
import { nearest } from './drivers/nearest.ts';
import { boards } from './pages/boards.ts';
import { dashboard } from './pages/dashboard.ts';
import { map } from './pages/map.ts';
import { revokedKeys } from './pages/revoked-keys.ts';
import { usage } from './pages/usage.ts';
import { create } from './paths/create.ts';
import { polls } from './paths/polls.ts';
import { offers, retrieve } from './paths/reads.ts';
import { redisMemory } from './processes/redis-memory.ts';
import { apiStart, idleMemory } from './processes/start-and-memory.ts';
import { openings } from './rides/openings.ts';
import { retention } from './rides/retention.ts';
import { roads } from './rides/roads.ts';
import { timerLag } from './rides/timer-lag.ts';
import { wholeRides } from './rides/whole-rides.ts';
import { backlog } from './scale/backlog.ts';
import { cost } from './scale/cost.ts';
import { million } from './scale/million.ts';
import { twoQueues } from './scale/two-queues.ts';

/** Measurements that read the CPU time or the connections of the embedded engine. */
export const needEngine: readonly string[] = ['million', 'cost'];

/** All measurements, by their names for `--only`, in the order of a full run. */
export const measurements = {
  create,
  retrieve,
  offers,
  'http-64': delivery('http', 64, 3.3),
  'http-256': delivery('http', 256, 2.1),
  'https-64': delivery('https', 64, 1.5),
  'first-byte': firstByte,
  'timer-lag': timerLag,
  openings,
  'whole-rides': wholeRides,
  roads,
  retention,
  million,
  backlog,
  dashboard,
  'revoked-keys': revokedKeys,
  boards,
  map,
  usage,
  nearest,
  fleet,
  freed,
  'idle-drivers': idleDrivers,
  polls,
  'redis-memory': redisMemory,
  cost,
  'two-processes': twoProcesses,
  'two-queues': twoQueues,
  start: apiStart,
  memory: idleMemory,
} satisfies Record<string, Measurement>;
