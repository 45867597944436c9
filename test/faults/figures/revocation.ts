import { newRideId } from '../../../shared/base/ids.ts';
import { revokeKey } from '../../../shared/keys/manage-keys.ts';
import { rotateKey } from '../../../shared/keys/replace-secret.ts';
import type { Figure } from '../figure.ts';
import { oneOf, type Random, seededRandom } from '../random.ts';
import type { World } from '../world/world.ts';
import { type HttpAnswer, type HttpClient, type HttpRequest, httpClient, smallRide } from './http-client.ts';
import { inWorld, numbers, runConcurrently } from './in-world.ts';

const concurrency = 6;
/** Number of requests on each connection before the key is revoked. */
const requestsBefore = 2;
/** Number of requests on each connection that start after the answer to the revocation. */
const requestsAfter = 3;

/**
 * The result of one trial. Only requests that start after the revoke count; earlier ones just keep the secret in use.
 */
interface Trial {
  violations: string[];
  startedAfter: number;
}

export const revocation: Figure = {
  name: 'revocation',
  goal: '0 requests accepted that start after the revoke was answered: 1,000 trials over 4 API processes',
  async measure(run) {
    const trials = run.short ? 100 : 1_000;
    const random = seededRandom(run.seed);
    const done: Trial[] = [];
    const { crashes } = await inWorld({ build: run.build, apis: 4, pools: [] }, (world) =>
      runConcurrently(numbers(trials), concurrency, async (trial) => {
        done.push(await tryOne(world, random, trial % 2 === 0 ? 'revoke' : 'rotate'));
        if (done.length % 250 === 0) run.say(`${done.length} of ${trials} trials`);
      }),
    );
    const violations = [...done.flatMap((trial) => trial.violations), ...crashes];
    const asked = done.reduce((total, { startedAfter }) => total + startedAfter, 0);
    const reached =
      `${violations.length} accepted of ${asked.toLocaleString('en')} requests that started after the answer, in ` +
      `${trials.toLocaleString('en')} trials (half of them rotations) over 4 API processes`;
    return { reached, violations };
  },
};

async function tryOne(world: World, random: Random, how: 'revoke' | 'rotate'): Promise<Trial> {
  const { keyId, key } = await world.newKey({ manner: 'none' });
  const lines = world.apis.map(({ name, url }) => ({ name, connection: httpClient(url, 1) }));
  const violations: string[] = [];
  let startedAfter = 0;
  let isEnding = false;
  let deadSince = Number.POSITIVE_INFINITY;
  let inUse = () => {};
  const allInUse = new Promise<void>((resolve) => {
    let left = lines.length;
    inUse = () => --left === 0 && resolve();
  });

  // Each connection sends requests without a pause, so that some request starts right after the answer to the revoke.
  const use = async (name: string, connection: HttpClient): Promise<void> => {
    let before = 0;
    for (let after = 0; after < requestsAfter; ) {
      const request = anyRequest(random, key);
      const answer = await connection.request(request);
      const what = `${how}: ${request.method ?? 'GET'} ${request.path} at ${name}`;
      if (answer.startedAt > deadSince) {
        after += 1;
        startedAfter += 1;
        const lateMs = (answer.startedAt - deadSince).toFixed(1);
        if (answer.status !== 401) violations.push(`${what} answered ${answer.status}, ${lateMs} ms after the answer`);
      } else if (!isEnding) {
        if (!isAccepted(answer)) violations.push(`${what} answered ${answer.status} while the key was valid`);
        before += 1;
        if (before === requestsBefore) inUse();
      }
    }
  };
  const end = async (): Promise<string | undefined> => {
    await allInUse;
    isEnding = true;
    const rotated = how === 'rotate' ? await rotateKey(keyId, 'anyone') : await revokeKey(keyId, 'anyone');
    deadSince = performance.now();
    return rotated?.key;
  };

  const [newSecret] = await Promise.all([end(), ...lines.map(({ name, connection }) => use(name, connection))]);
  if (newSecret) {
    for (const { name, connection } of lines) {
      const answer = await connection.request(anyRequest(random, newSecret));
      if (!isAccepted(answer)) violations.push(`rotate: the new secret was answered ${answer.status} at ${name}`);
    }
  }
  for (const { connection } of lines) connection.close();
  return { violations, startedAfter };
}

/** 404, 409 and 429 also prove that the key was accepted. */
const isAccepted = ({ status }: HttpAnswer): boolean => [200, 201, 404, 409, 429].includes(status);

function anyRequest(random: Random, key: string): HttpRequest {
  const ride = `/rides/${newRideId(Date.now())}`;
  const request = oneOf<HttpRequest>(random, [
    { path: '' },
    { path: ride },
    { path: `${ride}/offers` },
    { method: 'POST', path: '/rides', body: smallRide },
    { method: 'POST', path: `${ride}/accept`, body: { offerId: 'offer_x' } },
    { method: 'POST', path: `${ride}/cancel` },
  ]);
  const base = oneOf(random, ['/v1', '/api/v1']);
  // The service accepts keys in this header too.
  if (random() < 0.3) return { ...request, path: base + request.path, headers: { 'X-Api-Key': key } };
  return { ...request, path: base + request.path, key };
}
