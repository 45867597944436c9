import { setTimeout } from 'node:timers/promises';
import type { Manner } from '../world/receivers.ts';
import type { World } from '../world/world.ts';
import { type HttpConnection, httpConnection, NoAnswer, smallRide } from './http-client.ts';

/** Requests of partners while the processes stop. */
export interface Load {
  /** Ids of rides whose creation was answered 201. */
  created: Set<string>;
  /** Requests that were sent on an open connection and never answered. */
  unanswered: number;
  stop(): Promise<void>;
}

const manners: (Manner | 'none')[] = ['prompt', 'prompt', 'slow', 'failing', 'silent', 'silent', 'none'];

/**
 * Starts partners that create and read rides almost without pauses, on both API processes. Rides whose receiver never
 * answers are cancelled immediately, so that every worker always has attempts in flight (8 s each) when it gets
 * SIGTERM.
 */
export async function startLoad(world: World): Promise<Load> {
  const load = { created: new Set<string>(), unanswered: 0 };
  let isOver = false;

  const onceMore = async (connection: HttpConnection, act: (connection: HttpConnection) => Promise<unknown>) => {
    try {
      await act(connection);
    } catch (error) {
      if (error instanceof NoAnswer) load.unanswered += 1;
      // A stopping process refuses new connections.
      await setTimeout(50);
    }
  };
  const create = async (connection: HttpConnection, key: string, manner: Manner | 'none') => {
    const headers: Record<string, string> = manner === 'silent' ? { 'X-Service-Test-Scenario': 'no_offers' } : {};
    const answer = await connection.request({ method: 'POST', path: '/v1/rides', key, headers, body: smallRide });
    if (answer.status !== 201) return;
    const { rideId } = JSON.parse(answer.text);
    load.created.add(rideId);
    if (manner === 'silent') await connection.request({ method: 'POST', path: `/v1/rides/${rideId}/cancel`, key });
  };

  const partners = world.apis.flatMap(({ url }) =>
    manners.map(async (manner) => {
      const { key } = await world.newKey({ manner });
      const creating = httpConnection(url);
      const reading = httpConnection(url);
      const lines = [
        async () => {
          await onceMore(creating, (connection) => create(connection, key, manner));
          await setTimeout(150);
        },
        async () => {
          await onceMore(reading, (connection) => connection.request({ path: '/v1', key }));
          await setTimeout(5);
        },
      ];
      await Promise.all(
        lines.map(async (line) => {
          while (!isOver) await line();
        }),
      );
      creating.close();
      reading.close();
    }),
  );
  return Object.assign(load, {
    async stop() {
      isOver = true;
      await Promise.all(partners);
    },
  });
}
