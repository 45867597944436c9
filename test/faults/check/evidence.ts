import fs from 'node:fs/promises';
import path from 'node:path';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { people } from '../../../shared/rides/simulation.ts';
import { canaries } from '../load/canaries.ts';
import type { Answer } from '../load/request.ts';
import { canaryOfUrls } from '../world/receivers.ts';
import { redisUrlsOf } from '../world/redis-urls.ts';
import { driverCanaries, type World } from '../world/world.ts';
import { type BesideEvidence, gatherBeside } from './beside.ts';
import type { Evidence } from './checker.ts';
import { redisText } from './redis-text.ts';

/** The logs of feed readers and people, if the run had any. */
type Seen = Partial<Pick<BesideEvidence, 'feeds' | 'presses'>>;

/** Gathers the evidence of a run. Must run before the world is stopped. */
export async function gatherEvidence(
  world: World,
  {
    journal,
    fleet,
    faults,
    standstills,
    ...seen
  }: Pick<Evidence, 'journal' | 'fleet' | 'faults' | 'standstills'> & Seen,
): Promise<Evidence> {
  const processes = [...world.apis, ...world.workers];
  return {
    rides: (await rides.find({ keyId: { $nin: [...world.past.keyIds] } }).toArray()) as Ride[],
    receipts: world.receivers.receipts,
    copies: world.receivers.copies,
    copied: new Set(world.endpointSecrets.keys()),
    journal,
    fleet,
    faults,
    standstills,
    manners: world.manners,
    texts: [
      ...(await logTexts(world.logDir)),
      { where: 'Redis', text: (await Promise.all((await redisUrlsOf(world)).map(redisText))).join('\n') },
      { where: 'the body of an error', text: errorBodies([...journal, ...fleet.calls]) },
    ],
    secrets: secretsOf(world),
    speed: world.config.simulationSpeed,
    dispatch: world.config.dispatch,
    ...(seen.feeds && seen.presses && { beside: await gatherBeside(world, seen as Required<Seen>) }),
    crashes: processes.flatMap(({ name, crashes }) => crashes.map((how) => `${name}, ${how}`)),
  };
}

async function logTexts(logDir: string): Promise<Evidence['texts']> {
  const names = await fs.readdir(logDir);
  return Promise.all(
    names.map(async (name) => ({ where: `the log ${name}`, text: await fs.readFile(path.join(logDir, name), 'utf8') })),
  );
}

const errorBodies = (journal: readonly Answer[]): string =>
  journal
    .filter(({ status }) => status >= 400)
    .map(({ text }) => text)
    .join('\n');

function secretsOf(world: World): Evidence['secrets'] {
  const secrets = [
    { what: "a passenger's phone number", value: canaries.phone },
    { what: "a passenger's name", value: canaries.name },
    { what: 'a note', value: canaries.note },
    { what: 'an address', value: canaries.address },
    { what: "a person's address", value: canaries.mailbox },
    ...[...world.shownKeys].map((value) => ({ what: 'an API key', value })),
    ...[...world.endpointSecrets.values(), ...[...world.rolledSecrets.values()].flat()].map((value) => ({
      what: 'a signing secret',
      value,
    })),
    { what: "a webhook URL's query", value: canaryOfUrls },
    ...[...people, driverCanaries].flatMap(({ name, phone }) => [
      { what: "a driver's name", value: name },
      { what: "a driver's phone number", value: phone },
    ]),
    { what: 'the key that secrets are encrypted with', value: world.env.SECRETS_KEY },
    ...[...world.driverKeys].map((value) => ({ what: "a driver's key", value })),
    ...[...world.keys.values()].flatMap(({ key, signingSecret }) => [
      { what: 'an API key', value: key },
      { what: 'a signing secret', value: signingSecret },
    ]),
  ];
  // A key that no page has shown has an empty value, which every text contains.
  return secrets.filter(({ value }) => value !== '');
}
