import type { Figure } from './figure.ts';
import { cleanStop } from './figures/clean-stop.ts';
import { driverRaces } from './figures/driver-races.ts';
import { floods } from './figures/floods.ts';
import { growth } from './figures/growth.ts';
import { hangingReceiver } from './figures/hanging-receiver.ts';
import { kills } from './figures/kills.ts';
import { longAnswers } from './figures/long-answers.ts';
import { messageFaults } from './figures/message-faults.ts';
import { mongoOutages } from './figures/mongo-outages.ts';
import { redisEmptied } from './figures/redis-emptied.ts';
import { redisCluster, redisSentinel } from './figures/redis-failovers.ts';
import { redisOutages } from './figures/redis-outages.ts';
import { redisReshard } from './figures/redis-reshard.ts';
import { revocation } from './figures/revocation.ts';
import { rollingRestarts } from './figures/rolling-restarts.ts';
import { slowReceivers } from './figures/slow-receivers.ts';
import { tenKills } from './figures/ten-kills.ts';

/** Every figure, in the order of the table in README.md. */
export const figures: readonly Figure[] = [
  kills,
  tenKills,
  messageFaults,
  redisEmptied,
  redisOutages,
  redisCluster,
  redisSentinel,
  redisReshard,
  mongoOutages,
  hangingReceiver,
  longAnswers,
  slowReceivers,
  revocation,
  floods,
  cleanStop,
  rollingRestarts,
  growth,
  driverRaces,
];
