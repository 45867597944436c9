import { once } from 'node:events';
import net from 'node:net';
import { serverOf, throughProxy } from '../../support/mongo-proxy.ts';
import type { ReplicaSet } from '../../support/replica-set.ts';

/** MongoDB commands that change one or more rides. */
const update = ['findAndModify\0', 'update\0', 'bulkWrite\0'];

/**
 * Places in the work of a process where a test can kill it at an exact point, because its connections to MongoDB and
 * Redis show them: just before the server receives a command (`asked`), or after the server has executed the command
 * and before the process gets the reply (`answered`).
 */
const places = {
  'before the insert': { server: 'mongo', when: 'asked', has: ['insert\0', 'rides\0'] },
  'between commit and enqueue': { server: 'mongo', when: 'answered', has: ['insert\0', 'rides\0'] },
  'between enqueue and answer': { server: 'redis', when: 'answered', has: ['"rideId"'] },
  'before a change': { server: 'mongo', when: 'asked', has: [update, '\x10rev\0'] },
  'between change and enqueue': { server: 'mongo', when: 'answered', has: [update, '\x10rev\0'] },
  'between asking drivers and the change': {
    server: 'mongo',
    when: 'answered',
    has: ['bulkWrite\0', '.positions\0', 'requests\0'],
  },
  'between noting a ride and withdrawing offers': {
    server: 'mongo',
    when: 'answered',
    has: ['update\0', 'positions\0', 'rideNotes\0'],
  },
  'before the claim': { server: 'mongo', when: 'asked', has: [update, '$claim.until'] },
  'between claim and send': { server: 'mongo', when: 'answered', has: [update, '$claim.until'] },
  'between outcome and settling': { server: 'mongo', when: 'asked', has: [update, '.delivery\0'] },
  'between settling and the next job': {
    server: 'mongo',
    when: 'answered',
    has: [update, '.delivery\0'],
  },
  'before a job is finished': { server: 'redis', when: 'asked', has: ['"result"'] },
} as const satisfies Record<
  string,
  { server: 'mongo' | 'redis'; when: 'asked' | 'answered'; has: (string | string[])[] }
>;

export type Place = keyof typeof places;

export type Wires = Awaited<ReturnType<typeof layWires>>;

type Armed = { place: Place; trip: () => void };

/**
 * Puts a proxy between one process and its servers. With `replicaSet`, the wire leads to its primary, not to the
 * engine.
 */
export async function layWires(mongoUrl: string, redisUrl: string, replicaSet?: ReplicaSet) {
  const armed = new Set<Armed>();
  const claimed = new Map<string, number>();
  const recordClaim = (bytes: Buffer) => {
    if (!bytes.includes('$claim.until')) return;
    for (const [rideId] of bytes.toString('latin1').matchAll(/ride_[0-9A-Za-z]+/g)) claimed.set(rideId, Date.now());
  };
  const found = (server: 'mongo' | 'redis', bytes: Buffer): Armed | undefined =>
    [...armed].find(({ place }) => {
      const { server: own, has } = places[place];
      return own === server && has.every((text) => [text].flat().some((alternative) => bytes.includes(alternative)));
    });

  const lay = (server: 'mongo' | 'redis', target: () => net.NetConnectOpts) => {
    const wire = net.createServer({ noDelay: true }, (client) => {
      const upstream = net.connect({ ...target(), noDelay: true } as net.NetConnectOpts);
      const end = () => {
        client.destroy();
        upstream.destroy();
      };
      const spring = (hit: Armed) => {
        armed.delete(hit);
        hit.trip();
        end();
      };
      let hitAtAnswer: Armed | undefined;
      for (const socket of [client, upstream]) socket.on('error', () => {}).on('close', end);
      client.on('data', (bytes) => {
        if (server === 'mongo') recordClaim(bytes);
        const hit = found(server, bytes);
        if (hit && places[hit.place].when === 'asked') return spring(hit);
        hitAtAnswer ??= hit;
        upstream.write(bytes);
      });
      upstream.on('data', (bytes) => {
        if (hitAtAnswer && armed.has(hitAtAnswer)) return spring(hitAtAnswer);
        client.write(bytes);
      });
    });
    wire.listen(0, '127.0.0.1');
    return wire;
  };

  let mongoServer = serverOf(mongoUrl);
  const mongo = lay('mongo', () => mongoServer);
  const redis = lay('redis', () => ({ host: '127.0.0.1', port: Number(new URL(redisUrl).port) }));
  await Promise.all([once(mongo, 'listening'), once(redis, 'listening')]);
  const portOf = (server: net.Server) => (server.address() as net.AddressInfo).port;
  const host = `127.0.0.1:${portOf(mongo)}`;
  // The primary reports the wire's address as its own; otherwise the client would bypass the wire.
  if (replicaSet) mongoServer = { host: '127.0.0.1', port: await replicaSet.front(host) };
  return {
    mongoUrl: replicaSet ? replicaSet.urlAt(host) : throughProxy(mongoUrl, host),
    redisUrl: `redis://127.0.0.1:${portOf(redis)}`,
    /**
     * Calls `trip` in the tick in which the process reaches the place. The command, or its reply, is not forwarded.
     * Returns a function that disarms it.
     */
    arm(place: Place, trip: () => void) {
      const entry = { place, trip };
      armed.add(entry);
      return () => armed.delete(entry);
    },
    /** By ride id: when the process last tried to claim an event of the ride (Unix ms). */
    claimed,
    close() {
      mongo.close();
      redis.close();
    },
  };
}
