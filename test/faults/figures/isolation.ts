import { accountOf } from '../../../shared/accounts/account.ts';
import type { Context } from '../../../shared/base/context.ts';
import { newOfferId, newRideId } from '../../../shared/base/ids.ts';
import { createKey } from '../../../shared/keys/manage-keys.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { type RideStatus, rideStatuses } from '../../../shared/rides/ride-types.ts';
import { rideIn } from '../../support/rides.ts';
import type { Figure } from '../figure.ts';
import type { World } from '../world/world.ts';
import { type HttpRequest, httpConnection, requestText } from './http-client.ts';
import { inWorld, numbers, runConcurrently, withContext } from './in-world.ts';

/** A ride of the owner, in one status and with a real offer. */
interface OwnedRide {
  rideId: string;
  offerId: string;
  status: RideStatus;
}

export const isolation: Figure = {
  name: 'isolation',
  promise: 'A key can access only its own rides',
  goal: 'a foreign ride’s 404 is byte for byte an unknown ride’s, on all four operations and both bases',
  async measure(run) {
    const rounds = run.short ? 1 : 4;
    const { measured, crashes } = await inWorld({ build: run.build, pools: [] }, (world) =>
      withContext(world, (ctx) => compareAll(world, ctx, rounds)),
    );
    const reached =
      `${measured.violations.length} of ${measured.compared.toLocaleString('en')} answers differ, compared byte by byte (except ` +
      `X-Request-Id and Date): foreign rides in each of ${rideStatuses.length} statuses, and impossible ids, against an unknown ` +
      `ride; ${measured.strangers} foreign keys, ${measured.apis} API processes, both bases, all four operations`;
    return { reached, violations: [...measured.violations, ...crashes] };
  },
};

async function compareAll(world: World, ctx: Context, rounds: number) {
  const owner = await world.newKey({ mode: 'live', manner: 'none' });
  const strangers = await foreignKeys(world);
  const violations: string[] = [];
  let compared = 0;

  for (const _ of numbers(rounds)) {
    const owned: OwnedRide[] = [];
    for (const status of rideStatuses) {
      owned.push({ ...(await rideIn(ctx, status, { keyId: owner.keyId })), status });
    }
    const before = await revisions(owned);
    const cases = world.apis.flatMap(({ url }) =>
      ['/v1', '/api/v1'].flatMap((base) => strangers.flatMap((key) => owned.map((ride) => ({ url, base, key, ride })))),
    );
    await runConcurrently(cases, 4, async ({ url, base, key, ride }) => {
      const idOfNone = newRideId(Date.now());
      for (const { name, request } of operations(ride.offerId)) {
        const reference = await wholeAnswer(url, request(base, idOfNone, key));
        if (!reference.startsWith('HTTP/1.1 4'))
          violations.push(`${name}: an unknown ride is answered ${first(reference)}`);
        for (const [what, rideId] of [[ride.status, ride.rideId], ...spellings(ride.rideId)] as const) {
          compared += 1;
          const answer = await wholeAnswer(url, request(base, rideId, key));
          if (answer !== reference) violations.push(`${name} of ${base}, foreign ride (${what}): ${first(answer)}`);
        }
      }
    });
    const [here, there] = owned;
    if (here && there) {
      compared += 1;
      violations.push(...(await foreignOffer(world, owner.key, here.rideId, there.offerId)));
    }
    // First checks that the owner sees all rides, because identical 404s for everybody would prove nothing.
    for (const ride of owned) {
      const own = await wholeAnswer(world.apis[0]?.url ?? '', requestText(get('/v1', ride.rideId, owner.key)));
      if (!own.startsWith('HTTP/1.1 200 ')) violations.push(`the owner’s own ride is answered ${first(own)}`);
    }
    const after = await revisions(owned);
    if (after !== before) violations.push(`a stranger changed a ride: ${before} became ${after}`);
  }
  return { violations, compared, strangers: strangers.length, apis: world.apis.length };
}

const first = (answer: string): string => answer.split('\r\n', 1)[0] || 'nothing';

const get = (base: string, rideId: string, key: string): HttpRequest => ({ path: `${base}/rides/${rideId}`, key });

/** Another key of the same account, one of another account, and one of the other mode. */
async function foreignKeys(world: World): Promise<string[]> {
  const other = await accountOf('stranger@rides.example');
  const made = [
    await world.newKey({ mode: 'live', manner: 'none' }),
    await world.newKey({ mode: 'test', manner: 'none' }),
    await createKey(world.config, { accountId: other._id, name: 'stranger', mode: 'live' }),
  ];
  return made.map(({ key }) => key);
}

/**
 * The contract's four operations on an existing ride, each as a request that succeeds for the owner and as one that
 * fails.
 */
function operations(offerId: string) {
  const operation = (name: string, method: string, path: string, more: Partial<HttpRequest> = {}) => ({
    name,
    request: (base: string, rideId: string, key: string) =>
      requestText({ method, path: `${base}/rides/${rideId}${path}`, key, ...more }),
  });
  return [
    operation('retrieve', 'GET', ''),
    operation('retrieve with HEAD', 'HEAD', ''),
    operation('list offers', 'GET', '/offers'),
    operation('list offers with a query', 'GET', '/offers?keyId=x&rideId=y'),
    operation('accept of the ride’s offer', 'POST', '/accept', { body: { offerId } }),
    operation('accept of an unknown offer', 'POST', '/accept', { body: { offerId: newOfferId() } }),
    operation('accept with an invalid offer id', 'POST', '/accept', { body: { offerId: { $gt: '' } } }),
    operation('accept without a body', 'POST', '/accept'),
    operation('cancel', 'POST', '/cancel'),
    operation('cancel with a body', 'POST', '/cancel', { body: { by: 'driver' } }),
    operation('a wrong method', 'DELETE', ''),
  ];
}

/** An accept with the offer of another ride must be answered like one with an unknown offer. */
async function foreignOffer(world: World, key: string, rideId: string, offerId: string): Promise<string[]> {
  const accept = (offer: string) =>
    requestText({ method: 'POST', path: `/v1/rides/${rideId}/accept`, key, body: { offerId: offer } });
  const url = world.apis[0]?.url ?? '';
  const [answer, reference] = [await wholeAnswer(url, accept(offerId)), await wholeAnswer(url, accept(newOfferId()))];
  if (!reference.startsWith('HTTP/1.1 404 ')) return [`an unknown offer is answered ${first(reference)}`];
  return answer === reference ? [] : [`another ride's offer: ${first(answer)}`];
}

/** Other spellings of the foreign ride's id, and ids that cannot exist. */
function spellings(rideId: string): [what: string, id: string][] {
  return [
    ['percent-encoded', rideId.replace('r', '%72')],
    ['with NUL', `${rideId}%00`],
    ['in lower case', rideId.toLowerCase()],
    ['cannot exist: x', 'x'],
    ['cannot exist: __proto__', '__proto__'],
    ['cannot exist: $gt', '%7B%22$gt%22:%22%22%7D'],
    ['cannot exist: long', 'r'.repeat(4_000)],
    ['cannot exist: not ASCII', '%F0%9F%9A%95'],
  ];
}

async function revisions(owned: readonly OwnedRide[]): Promise<string> {
  const found = await rides.find({ _id: { $in: owned.map(({ rideId }) => rideId) } }, { sort: { _id: 1 } }).toArray();
  return JSON.stringify(found.map(({ status, rev, seq }) => [status, rev, seq]));
}

/** The bytes of the answer, without the values that may differ (X-Request-Id and Date). */
async function wholeAnswer(url: string, request: string): Promise<string> {
  const connection = httpConnection(url);
  const { head, text } = await connection.send(request, { isHead: request.startsWith('HEAD ') });
  connection.close();
  return `${head}\r\n\r\n${text}`
    .replace(/^(X-Request-Id: )[0-9a-f-]{36}\r$/m, '$1-\r')
    .replace(/^(Date: )[^\r]*\r$/m, '$1-\r');
}
