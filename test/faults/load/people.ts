import { setTimeout } from 'node:timers/promises';
import { accountOf } from '../../../shared/accounts/account.ts';
import { startSession } from '../../../shared/accounts/session.ts';
import { keys as keyRecords } from '../../../shared/keys/api-key.ts';
import { type NewKey, viewSigningSecret } from '../../../shared/keys/manage-keys.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { between, oneOf, type Random } from '../random.ts';
import type { World } from '../world/world.ts';
import { canaries } from './canaries.ts';
import { type Pace, plannedPace } from './pace.ts';
import { newPerson, type Person, type Press, type PressWish } from './person.ts';
import { untilDone } from './request.ts';

export interface People {
  log: Press[];
  /** Lets all people finish their current task. */
  stop(): Promise<Press[]>;
}

export interface PeopleOptions {
  /** Longest pause of a person between two tasks. */
  pauseMs?: number;
  pace?: Pace;
}

type Two = readonly [Person, Person];

/**
 * Starts people that use the dashboard: they request sign-in codes, create and change keys, send test events, resend
 * failed events, and use the console. Some buttons are pressed by two people at the same moment, or twice by one
 * person, and every form is repeated until it has an answer.
 */
export function startPeople(
  world: World,
  random: Random,
  { pauseMs = 4_000, pace = plannedPace }: PeopleOptions = {},
): People {
  const log: Press[] = [];
  const stopping = new AbortController();
  const tools = { world, random, log };
  let count = 0;
  const nextName = (what: string): string => `${what}-${++count}`;
  const person = async (accountId: string): Promise<Person> => {
    const token = await untilDone(() => startSession(accountId, Date.now()));
    return newPerson(tools, { accountId, cookie: `session=${token}` });
  };
  const two = async (accountId: string): Promise<Two> => [await person(accountId), await person(accountId)];

  /** Two people press the same button at the same moment. */
  async function together([one, other]: Two, wish: PressWish): Promise<Press[]> {
    const clicks = await Promise.all([one.open(wish), other.open(wish)]);
    return Promise.all(clicks.map((click) => click()));
  }
  /** One person presses a button, half of the time with a double click. */
  async function twice(one: Person, wish: PressWish): Promise<Press> {
    const click = await one.open(wish);
    const [press] = await Promise.all(random() < 0.5 ? [click(), click()] : [click()]);
    return press as Press;
  }

  async function requestCode(): Promise<void> {
    const email = `${canaries.mailbox}-${nextName('mail')}@partner.example`;
    const fields = { email, next: '/dashboard' };
    const wish = {
      button: 'code',
      effect: email,
      about: email,
      page: '/dashboard',
      path: '/dashboard/sign-in/code',
    } as const;
    await twice(newPerson(tools, { accountId: '' }), { ...wish, fields });
  }

  async function manageKey(): Promise<void> {
    const name = nextName('desk');
    const { _id: accountId } = await untilDone(() => accountOf(`${name}@partner.example`));
    const people = await two(accountId);
    const [one] = people;
    const create = {
      button: 'create key',
      effect: name,
      about: name,
      page: '/dashboard/keys/new',
      path: '/dashboard/keys',
    } as const;
    const made = await twice(one, { ...create, fields: { name, mode: 'test' } });
    const keyId = await untilDone(() => keyIdOf(accountId, name));
    if (!keyId) return;
    await tryKey(made);
    await untilDone(() => addSecrets(world, keyId, made));
    const path = `/dashboard/keys/${keyId}`;
    const wish = (button: Press['button'], action: string, fields = {}): PressWish => ({
      ...{ button, effect: `${button} ${keyId}`, about: keyId, page: path, path: `${path}/${action}`, fields },
    });
    await twice(one, wish('rename', 'name', { name: `${name} renamed` }));
    await twice(one, wish('save URL', 'webhook-url', { webhookUrl: world.receivers.urlOf(keyId, 'prompt') }));
    await twice(one, wish('test event', 'test-event'));
    const rolled = await twice(one, { ...wish('roll', 'roll-secret'), page: `${path}/roll-secret` });
    if (rolled.status > 0) await untilDone(() => addSecrets(world, keyId, rolled));
    const rotated = await together(people, { ...wish('rotate', 'rotate'), page: `${path}/rotate` });
    for (const press of rotated) if (press.key) await tryKey(press);
    await twice(one, { ...wish('revoke', 'revoke'), page: `${path}/revoke` });
  }

  /** Records in `press.works` whether the API accepts the key that was just shown. */
  async function tryKey(press: Press): Promise<void> {
    if (!press.key) return;
    world.shownKeys.add(press.key);
    for (let tries = 0; tries < 300; tries++) {
      const headers = { authorization: `Bearer ${press.key}` };
      const { status } = await fetch(`${oneOf(random, world.apis).url}/v1`, { headers }).catch(() => ({ status: 0 }));
      if (status === 200 || status === 401) return void Object.assign(press, { works: status === 200 });
      await setTimeout(200);
    }
  }

  async function resendFailed(people: Two): Promise<void> {
    const keyId = oneOf(random, keyIdsOf(world, 'failing', 'resetting', 'prompt'));
    const since = new Date(Date.now() - 20_000).toISOString().slice(0, 19).replace('T', ' ');
    const page = `/dashboard/deliveries?key=${keyId}`;
    const wish = { button: 'resend failed', effect: nextName('failed'), about: keyId } as const;
    await together(people, { ...wish, page, path: '/dashboard/deliveries/send-again', fields: { keyId, since } });
  }

  async function resendOne(people: Two): Promise<void> {
    const keyIds = keyIdsOf(world, 'failing', 'resetting', 'prompt');
    const ride = await rides.findOne(
      { keyId: { $in: keyIds }, settledSeq: { $gte: 1 } },
      { sort: { _id: -1 }, projection: { _id: 1 } },
    );
    if (!ride) return;
    const path = `/dashboard/rides/${ride._id}`;
    const wish = { button: 'resend', effect: nextName('resend'), about: `${ride._id}_1` } as const;
    await together(people, { ...wish, page: `${path}?entry=event-1`, path: `${path}/events/1/send-again` });
  }

  async function useConsole(people: Two): Promise<void> {
    const tag = nextName('console');
    const keyId = oneOf(random, keyIdsOf(world, 'prompt'));
    const page = '/dashboard/console';
    const fields = { ...ridePlaces, key: keyId, scenario: 'no_auto_accept' };
    const wish = { button: 'new ride', effect: tag, about: keyId, page, path: page } as const;
    const started = await twice(people[0], { ...wish, fields });
    const rideId = /ride_[0-9A-Za-z]+/.exec(started.location)?.[0];
    if (!rideId) return;
    const button = random() < 0.6 ? 'accept' : 'cancel';
    const offerId = button === 'accept' ? await firstOffer(rideId) : undefined;
    if (button === 'accept' && !offerId) return;
    const shown = `${page}/${rideId}`;
    const pressed = {
      button,
      effect: `${button} ${rideId}`,
      about: rideId,
      page: button === 'cancel' ? `${shown}/cancel` : shown,
      path: `${shown}/${button}`,
    } as const;
    await together(people, { ...pressed, fields: offerId ? { offerId } : {} });
  }

  async function repeat(task: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) {
      // A task that fails during an outage of MongoDB is abandoned. Its presses are already in the log.
      await task().catch(() => {});
      const ms = between(random, pauseMs / 4, pauseMs) * pace.slowdown;
      await setTimeout(ms, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  const colleagues = two(world.accountId);
  const done = Promise.all([
    repeat(requestCode),
    repeat(manageKey),
    colleagues.then((people) => repeat(() => resendFailed(people))),
    colleagues.then((people) => repeat(() => resendOne(people))),
    colleagues.then((people) => repeat(() => useConsole(people))),
  ]);
  return {
    log,
    async stop() {
      stopping.abort();
      await done;
      return log;
    },
  };
}

const ridePlaces = {
  ...{ pickupAddress: canaries.address, pickupLat: '40.758', pickupLng: '-73.9855' },
  ...{ destinationAddress: canaries.address, destinationLat: '40.7128', destinationLng: '-74.006', fare: '24.5' },
};

const keyIdsOf = ({ manners, keys }: World, ...wanted: string[]): string[] =>
  [...manners]
    .filter(([keyId, manner]) => wanted.includes(manner) && keys.get(keyId)?.mode === 'test')
    .map(([keyId]) => keyId);

async function keyIdOf(accountId: string, name: string): Promise<string | undefined> {
  return (await keyRecords.findOne({ accountId, name }, { projection: { _id: 1 } }))?._id;
}

/** Registers the key's signing secret, for the receivers and for the search for leaked secrets. */
async function addSecrets({ config, keys, rolledSecrets }: World, keyId: string, { key = '' }: Press): Promise<void> {
  const signingSecret = await viewSigningSecret(config, keyId, 'anyone');
  const before = keys.get(keyId)?.signingSecret;
  if (before) rolledSecrets.set(keyId, [...(rolledSecrets.get(keyId) ?? []), before]);
  keys.set(keyId, { ...({} as NewKey), keyId, key: key || (keys.get(keyId)?.key ?? ''), mode: 'test', signingSecret });
}

async function firstOffer(rideId: string): Promise<string | undefined> {
  for (let look = 0; look < 40; look++) {
    const ride = await rides.findOne({ _id: rideId }, { projection: { offers: 1 } }).catch(() => null);
    if (ride?.offers[0]) return ride.offers[0].offerId;
    await setTimeout(200);
  }
  return undefined;
}
