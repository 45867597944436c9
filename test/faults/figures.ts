import type { Figure } from './figure.ts';
import { kills } from './figures/kills.ts';
import { mongoOutages } from './figures/mongo-outages.ts';
import { redisEmptied } from './figures/redis-emptied.ts';
import { redisOutages } from './figures/redis-outages.ts';
import { tenKills } from './figures/ten-kills.ts';

/** Every figure, in the order of the table in README.md. */
export const figures: readonly Figure[] = [kills, tenKills, redisEmptied, redisOutages, mongoOutages];
