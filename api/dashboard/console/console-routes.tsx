import { type Account, noteConsoleSeen } from '../../../shared/accounts/account.ts';
import type { Context } from '../../../shared/base/context.ts';
import { AppError } from '../../../shared/base/errors.ts';
import { isSuspended } from '../../../shared/keys/api-key.ts';
import { listActiveKeys } from '../../../shared/keys/list-keys.ts';
import { findKey, type KeyFacts } from '../../../shared/keys/manage-keys.ts';
import { applyAction } from '../../../shared/rides/change-ride.ts';
import type { Command } from '../../../shared/rides/decide.ts';
import { type Origin, type TestScenario, testScenarios } from '../../../shared/rides/ride-types.ts';
import { takeHandStep } from '../../../shared/rides/manual-steps.ts';
import type { Form } from '../../http/body.ts';
import { makeChange } from '../../http/route.ts';
import { faultsIn, validate } from '../../http/validate.ts';
import type { RideCreation } from '../../rides/creation.ts';
import { newRideSchema, rideRequest } from '../../rides/new-ride.ts';
import type { Faults } from '../forms.tsx';
import { type Answer, type DashboardRoute, formIdOf, type Sending, signedInRoutes, type Visit } from '../visit.ts';
import { type ConsoleRide, consoleRide } from './console-ride.ts';
import type { ConsoleStreams } from './console-streams.ts';
import { consoleState } from './live-ride.tsx';
import { firstValues, type RideField, requestBody } from './ride-form.ts';
import { ridePage } from './ride-page.tsx';
import { startPage } from './start-page.tsx';
import { handStepIn } from './step-form.ts';

const base = '/dashboard/console';

/** What the console uses of its process. */
export interface ConsoleParts {
  creation: RideCreation;
  streams: ConsoleStreams;
}

/** The test console: starts a test ride, shows it live, lets its partner accept an offer or cancel, and be the driver. */
export function consoleRoutes(service: Context, { creation, streams }: ConsoleParts): DashboardRoute[] {
  const { config } = service;
  const { page, action, data, stream } = signedInRoutes(service);
  const schema = newRideSchema(config);

  const rideOf = ({ account, param }: Visit) => consoleRide(param('rideId'), { accountId: account._id });

  async function showRide(account: Account, ride: ConsoleRide, refusal?: string): Promise<string> {
    const key = await findKey(ride.keyId, { accountId: account._id });
    return ridePage({ config, account, ride, keyName: key.name, webhookUrl: key.webhookUrl, refusal });
  }

  async function start(sending: Sending): Promise<Answer> {
    const { ctx, account, form } = sending;
    const owner = { accountId: account._id };
    const [keys, key] = await Promise.all([listActiveKeys(owner), findKey(form.text('key'), owner)]);
    const again = (status: number, { faults, refusal }: { faults?: Faults; refusal?: string }) => ({
      status,
      html: startPage({ config, account, keys: keys.filter(isTestKey), values: typedIn(form), faults, refusal }),
    });

    const scenario = testScenarios.find((known) => known === form.text('scenario'));
    const body = requestBody((field) => form.text(field));
    const faults: Faults = {
      ...(!isTestKey(key) && { key: key.revokedAt ? 'This key is revoked: choose another' : 'Choose a test key' }),
      ...(!scenario && { scenario: 'Choose a scenario' }),
      ...fieldFaults(faultsIn(schema, body)),
    };
    if (!scenario || Object.keys(faults).length > 0) return again(422, { faults });

    const caller = { keyId: key._id, accountId: account._id, mode: key.mode };
    const request = rideRequest(validate(schema, body));
    try {
      // The form's id is the Idempotency-Key: sending the form again leads to the same ride.
      const ride = await makeChange(
        ctx,
        { key: caller, request, scenario, idempotencyKey: formIdOf(form), origin: originOf(sending) },
        creation,
      );
      return { see: `${base}/${ride._id}` };
    } catch (error) {
      if (!(error instanceof AppError) || !(error.code in refusals)) throw error;
      ctx.set(error.headers);
      return again(error.status, { refusal: refusals[error.code]?.(error) });
    }
  }

  /**
   * Changes the ride on behalf of its key. A refusal is shown on the ride's page, unless the ride has the change already: by
   * an earlier sending of the form, or by the first of two clicks.
   */
  async function act(
    visit: Sending,
    change: (rideId: string, owner: { keyId: string }) => Promise<unknown>,
    isDone: (ride: ConsoleRide) => boolean,
  ) {
    const { _id, keyId } = await rideOf(visit);
    const see = `${base}/${_id}`;
    try {
      await change(_id, { keyId });
      return { see };
    } catch (error) {
      if (!(error instanceof AppError) || (error.status !== 409 && error.code !== 'offer_not_found')) throw error;
      const ride = await rideOf(visit);
      if (isDone(ride) || ride.events.some(({ form }) => form === visit.sent.id)) return { see };
      return { status: error.status, html: await showRide(visit.account, ride, error.message) };
    }
  }

  const command = (sending: Sending, given: Command): Promise<Answer> =>
    act(
      sending,
      (rideId, owner) => applyAction(service, rideId, given, owner, originOf(sending)),
      ({ cancelledBy }) => given.action === 'cancel' && cancelledBy === 'partner',
    );

  /** Takes a step in the place of the simulated driver. */
  async function stepByHand(sending: Sending): Promise<Answer> {
    const { account, param, form } = sending;
    const ride = await rideOf(sending);
    const asked = handStepIn(param('step'), form);
    if ('fault' in asked) return { status: 422, html: await showRide(account, ride, asked.fault) };
    const { step } = asked;
    return act(
      sending,
      (rideId, owner) => takeHandStep(service, rideId, step, owner, originOf(sending)),
      ({ offers }) =>
        step.step === 'withdraw' &&
        offers.some(({ offerId, withdrawnAt }) => offerId === step.offerId && withdrawnAt !== undefined),
    );
  }

  return [
    page('/console', async ({ account, query }) => {
      await noteConsoleSeen(account, service.now());
      const keys = (await listActiveKeys({ accountId: account._id })).filter(isTestKey);
      const chosen = keys.find(({ _id }) => _id === query('key')) ?? keys.at(-1);
      const values = { ...firstValues, key: chosen?._id ?? '', scenario: scenarioNamed(query('scenario')) };
      return startPage({ config, account, keys, values });
    }),
    action('/console', start),
    page('/console/:rideId', async (visit) => showRide(visit.account, await rideOf(visit))),
    data('/console/:rideId/state', async (visit) => consoleState(config, await rideOf(visit))),
    stream('/console/:rideId/events', async (visit) => {
      const ride = await rideOf(visit);
      const state = consoleState(config, ride);
      if (state.isOver) visit.ctx.status = 204;
      else streams.open(visit.ctx, ride, state);
    }),
    action('/console/:rideId/accept', (sending) =>
      command(sending, { action: 'accept', offerId: sending.form.text('offerId') }),
    ),
    action('/console/:rideId/cancel', (sending) => command(sending, { action: 'cancel', by: 'partner' })),
    action('/console/:rideId/steps/:step', stepByHand),
  ];
}

const isTestKey = (key: KeyFacts): boolean => key.mode === 'test' && !key.revokedAt && !isSuspended(key);

const scenarioNamed = (name: string): TestScenario => testScenarios.find((known) => known === name) ?? 'default';

/** Refusals of a valid creation, as the form says them. */
const refusals: Record<string, (error: AppError) => string> = {
  rate_limited: ({ message, headers }) => `${message}. Try again in ${waitText(Number(headers['Retry-After']))}.`,
  idempotency_conflict: () =>
    'A ride was started from this form before, with other values. Check the values and start another.',
};

const waitText = (seconds: number): string => (seconds < 100 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`);

function typedIn(form: Form): Record<RideField | 'key' | 'scenario', string> {
  const fields = [...(Object.keys(firstValues) as RideField[]), 'key', 'scenario'] as const;
  return Object.fromEntries(fields.map((field) => [field, form.text(field)])) as Record<
    (typeof fields)[number],
    string
  >;
}

const fieldsOfPaths: Record<string, [field: RideField, label: string]> = {
  'pickup.address': ['pickupAddress', 'The address of the pickup'],
  'pickup.lat': ['pickupLat', 'The latitude of the pickup'],
  'pickup.lng': ['pickupLng', 'The longitude of the pickup'],
  'destination.address': ['destinationAddress', 'The address of the destination'],
  'destination.lat': ['destinationLat', 'The latitude of the destination'],
  'destination.lng': ['destinationLng', 'The longitude of the destination'],
  fare: ['fare', 'The fare'],
};

/** The schema's faults, by the form's fields. */
function fieldFaults(faults: Record<string, string>): Faults {
  return Object.fromEntries(
    Object.entries(faults).map(([path, fault]) => {
      const [field, label] = fieldsOfPaths[path] ?? ['fare', 'The request'];
      return [field, `${label} ${fault}`];
    }),
  );
}

/** Who a change that is made here is from. */
const originOf = ({ ctx, sent }: Sending): Origin => ({
  by: 'dashboard',
  requestId: ctx.state.requestId,
  form: sent.id,
});
