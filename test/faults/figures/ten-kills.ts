import { setTimeout } from 'node:timers/promises';
import { setWebhookUrl } from '../../../shared/keys/manage-keys.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Figure } from '../figure.ts';
import { killFirstAt } from '../rounds/arena.ts';
import { startWorld, type World } from '../world/world.ts';
import { httpClient, smallRide } from './http-client.ts';

const resumedWithinMs = 15_000;

/** Kills every worker that processes one ride: first the simulator at its step, then the sender of its first event. */
export const tenKills: Figure = {
  name: 'ten-kills',
  goal: 'the ride resumes within 15 s of each kill, and ends',
  async measure(run) {
    const kills = run.short ? 2 : 10;
    // The bidding is so long that it does not end before the simulator's step.
    const settings = { BIDDING_TIMEOUT_MS: '600000' };
    const world = await startWorld({ build: run.build, wired: true, seed: run.seed, settings });
    try {
      const key = await world.newKey({ manner: 'silent' });
      const api = httpClient(world.apis[0]?.url ?? '');
      const created = await api.request({ method: 'POST', path: '/v1/rides', key: key.key, body: smallRide });
      api.close();
      const { rideId } = JSON.parse(created.text);
      const steps = await killRepeatedly(world, 'simulator', 'before a change', kills, run.say);
      const sends = await killRepeatedly(world, 'webhooks', 'during a send', kills, run.say);
      await setWebhookUrl(world.config, key.keyId, world.receivers.urlOf(key.keyId, 'prompt'), 'anyone');
      await world.quiet(60_000);
      const ride = await rides.findOne({ _id: rideId });
      const violations = [...steps, ...sends].flatMap((ms) => {
        return ms > resumedWithinMs ? [`the ride resumed only ${ms} ms after a kill`] : [];
      });
      if (ride?.status !== 'completed' || ride.unsettled > 0) violations.push(`the ride is ${ride?.status}`);
      const seconds = (times: number[]) => `${(Math.max(...times) / 1_000).toFixed(1)} s`;
      const reached =
        `${kills} kills of the simulator at the ride's first step, retried within ${seconds(steps)}; ${kills} kills ` +
        `during the send of its first event, retried within ${seconds(sends)}; the ride is ${ride?.status}, all events settled`;
      return { reached, violations };
    } finally {
      await world.stop();
    }
  },
};

/**
 * Kills a process at this place `kills` times. Resolves with the time from each kill until the next process got there,
 * in ms.
 */
async function killRepeatedly(
  world: World,
  kind: 'simulator' | 'webhooks',
  place: Parameters<typeof killFirstAt>[2],
  kills: number,
  say: (line: string) => void,
): Promise<number[]> {
  const candidates = world.workers.filter((worker) => worker.kind.startsWith(kind));
  const resumedMs: number[] = [];
  let killedAt = 0;
  for (let kill = 1; kill <= kills; kill++) {
    const killed = await killFirstAt({ world }, candidates, place, 60_000);
    if (!killed) throw new Error(`kill ${kill}: no ${kind} reached the place "${place}"`);
    if (killedAt) resumedMs.push(killed.killedAt - killedAt);
    ({ killedAt } = killed);
    say(`${killed.victim.name} killed ${place}, ${kill} of ${kills}`);
    await setTimeout(100);
    await killed.victim.start();
  }
  return resumedMs;
}
