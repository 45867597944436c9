import type { World } from '../world/world.ts';
import { type HttpAnswer, httpClient, smallRide } from './http-client.ts';
import { numbers } from './in-world.ts';

/** One part of the figure: what it found in words, and how often the limit did not hold. */
export interface Part {
  reached: string;
  violations: string[];
}

/** Sends so many creations of one key at once, spread over all processes; answers what each was answered. */
export async function createAtOnce(
  world: World,
  key: string,
  count: number,
  idempotencyKeyOf: (index: number) => string | undefined = () => undefined,
): Promise<HttpAnswer[]> {
  const clients = world.apis.map(({ url }) => httpClient(url, Math.ceil(count / world.apis.length)));
  // The connections stand first, so that the creations and not the handshakes come at once.
  await Promise.all(
    clients.flatMap((client) => numbers(count / clients.length).map(() => client.request({ path: '/healthz' }))),
  );
  const answers = await Promise.all(
    numbers(count).map((index) => {
      const idempotencyKey = idempotencyKeyOf(index);
      return clients[index % clients.length]?.request({
        method: 'POST',
        path: index % 2 ? '/v1/rides' : '/api/v1/rides',
        key,
        body: smallRide,
        ...(idempotencyKey && { headers: { 'Idempotency-Key': idempotencyKey } }),
      }) as Promise<HttpAnswer>;
    }),
  );
  for (const client of clients) client.close();
  return answers;
}
