import { setTimeout } from 'node:timers/promises';
import type { RideRequest, TestScenario } from '../../../shared/rides/ride-types.ts';
import { between, oneOf, type Random } from '../random.ts';
import { canaries } from './canaries.ts';
import type { Call, ManualStep, More } from './request.ts';

/** One ride of a partner, and the function that makes requests for it. */
interface Use {
  rideId: string;
  random: Random;
  call(
    asked: Pick<Call, 'operation'> & Partial<Pick<Call, 'offerId' | 'fare' | 'step' | 'pin' | 'words'>>,
    more?: More,
  ): Promise<Call>;
}

/** A use of a ride beyond the contract's five operations (contract, sections 10.4 to 10.6). */
export interface Way {
  scenario: TestScenario;
  /** Further fields of the creation. */
  terms?: Partial<RideRequest>;
  /** A ride for later, which opens some seconds after its creation. */
  isLater?: true;
  use?(ride: Use): Promise<void>;
}

/**
 * Retries until the answer is below 500, like a partner who needs the step to succeed. Continues for longer than any
 * fault lasts: a ride for later whose steps are given up ends only hours later.
 */
async function retry(ask: () => Promise<Call>): Promise<Call> {
  for (let tries = 0; ; tries++) {
    const answer = await ask();
    if ((answer.status > 0 && answer.status < 500) || tries === 60) return answer;
    await setTimeout(500);
  }
}

/** Two concurrent raises, a retrieve, and a third raise. */
async function raiseFares({ random, call }: Use): Promise<void> {
  const raise = (fare: number) => retry(() => call({ operation: 'raise', fare }));
  await Promise.all([raise(25), raise(26)]);
  await call({ operation: 'retrieve' });
  await setTimeout(between(random, 0, 1_000));
  await raise(27.5);
  await call({ operation: 'retrieve' });
}

/**
 * The partner plays the driver with manual steps: makes two offers, withdraws one, and drives until one of the possible
 * ends.
 */
async function makeSteps({ random, call }: Use): Promise<void> {
  const make = (step: ManualStep, offerId?: string, body?: object) =>
    retry(() => call({ operation: 'step', step, offerId }, body && { body }));
  const first = await make('offer', undefined, { price: 26, etaMinutes: 4 });
  const second = await make('offer', undefined, { price: 27, etaMinutes: 2 });
  const [withdrawn, kept] = [second, first].map(({ body }) => body?.offerId as string | undefined);
  if (withdrawn) await make('withdraw', withdrawn);
  if (!kept) return;
  await retry(() => call({ operation: 'accept', offerId: kept }));
  const end = oneOf(random, ['complete', 'complete', 'cancel', 'expire'] as const);
  for (const step of ['arrive', 'start', end] as const) await make(step);
}

/** The partner writes to the driver, twice at the same moment, and starts the trip with a wrong PIN before the right one. */
async function writeAndStart({ call }: Use): Promise<void> {
  const made = await retry(() => call({ operation: 'step', step: 'offer' }));
  const offerId = made.body?.offerId as string | undefined;
  if (!offerId) return;
  await retry(() => call({ operation: 'accept', offerId }));
  const words = `Side door ${canaries.note}`;
  const tell = () => retry(() => call({ operation: 'tell', words }, { body: { text: words } }));
  await Promise.all([tell(), tell()]);
  await retry(() => call({ operation: 'step', step: 'arrive' }));
  const { body: ride } = await retry(() => call({ operation: 'retrieve' }));
  if (!ride?.pin) return;
  for (const pin of [ride.pin === '0000' ? '0001' : '0000', ride.pin as string]) {
    await retry(() => call({ operation: 'step', step: 'start', pin }, { body: { pin } }));
  }
  await retry(() => call({ operation: 'step', step: 'complete' }));
}

/** Opens a ride for later, unless it has just opened, and continues with manual steps. */
async function openAndMakeSteps(use: Use): Promise<void> {
  await retry(() => use.call({ operation: 'step', step: 'open' }));
  await makeSteps(use);
}

/** Cancels a ride before or after its opening. */
async function cancelLater({ random, call }: Use): Promise<void> {
  await setTimeout(between(random, 0, 6_000));
  await call({ operation: 'cancel' });
}

const rebid: Partial<RideRequest> = { onDriverCancel: 'rebid' };

const autoAccept = (maxPrice: number, maxEtaMinutes?: number, waitSeconds?: number): Partial<RideRequest> => ({
  autoAccept: { maxPrice, ...(maxEtaMinutes && { maxEtaMinutes }), ...(waitSeconds && { waitSeconds }) },
});

/** With a fare of 24.5 the three offers are 26.95, 24.5 and 30.63, with ETAs of 4, 7 and 2 minutes. */
export const testWays: readonly Way[] = [
  { scenario: 'three_offers', terms: autoAccept(25) },
  { scenario: 'three_offers', terms: autoAccept(40, 3) },
  { scenario: 'three_offers', terms: autoAccept(40, undefined, 1) },
  { scenario: 'no_auto_accept', terms: autoAccept(30, undefined, 2) },
  { scenario: 'no_auto_accept', terms: autoAccept(20) },
  { scenario: 'no_auto_accept', terms: autoAccept(30) },
  { scenario: 'no_auto_accept', use: raiseFares },
  { scenario: 'no_offers', use: raiseFares },
  { scenario: 'no_offers', use: makeSteps },
  { scenario: 'no_offers', use: writeAndStart, terms: { pin: true } },
  { scenario: 'rate_limited' },
  { scenario: 'unavailable' },
  { scenario: 'duplicate_event' },
  { scenario: 'no_offers', use: makeSteps, terms: rebid },
  { scenario: 'no_offers', use: openAndMakeSteps, terms: rebid, isLater: true },
  { scenario: 'default', isLater: true },
  { scenario: 'default', use: cancelLater, isLater: true },
  { scenario: 'driver_cancels', terms: rebid, isLater: true },
  { scenario: 'driver_cancels', terms: rebid },
];

/** The drivers' prices are the fare, or up to 3 more. */
export const liveWays: readonly Way[] = [
  { scenario: 'default', terms: autoAccept(25.5) },
  { scenario: 'default', terms: autoAccept(40, 5) },
  { scenario: 'default', terms: autoAccept(27, undefined, 3) },
  { scenario: 'default', terms: autoAccept(40, 8, 6) },
  { scenario: 'default', use: raiseFares },
  { scenario: 'default', terms: { ...autoAccept(30), ...rebid } },
  { scenario: 'default', terms: { ...autoAccept(30), ...rebid }, isLater: true },
  { scenario: 'default', use: cancelLater, isLater: true },
];
