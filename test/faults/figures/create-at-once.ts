import type { World } from '../world/world.ts';
import { type HttpAnswer, httpClient, smallRide } from './http-client.ts';
import { numbers } from './in-world.ts';

/** The result of one part of the figure `rate-limit`. */
export interface Part {
  reached: string;
  violations: string[];
}

/** Sends `count` concurrent creations with one key, spread over all API processes. Resolves with all answers. */
export async function createAtOnce(
  world: World,
  key: string,
  count: number,
  idempotencyKeyOf: (index: number) => string | undefined = () => undefined,
): Promise<HttpAnswer[]> {
  const clients = world.apis.map(({ url }) => httpClient(url, Math.ceil(count / world.apis.length)));
  // Opens the connections first, so that the creations themselves are concurrent, not the handshakes.
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
