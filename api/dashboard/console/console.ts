import { noteConsoleSeen } from '../../../shared/accounts/account.ts';
import type { Context } from '../../../shared/base/context.ts';
import { AppError } from '../../../shared/base/errors.ts';
import { isSuspended } from '../../../shared/keys/api-key.ts';
import { listActiveKeys } from '../../../shared/keys/list-keys.ts';
import { findKey, type KeyFacts } from '../../../shared/keys/manage-keys.ts';
import type { NewRide } from '../../../shared/rides/create-ride.ts';
import { type TestScenario, testScenarios } from '../../../shared/rides/ride-types.ts';
import type { Form } from '../../http/body.ts';
import { makeChange } from '../../http/route.ts';
import { faultsIn, validate } from '../../http/validate.ts';
import type { RideCreation } from '../../rides/creation.ts';
import { newRideSchema, rideRequest } from '../../rides/new-ride.ts';
import type { Faults } from '../forms.tsx';
import {
  type Answer,
  type DashboardRoute,
  type FormRequest,
  formIdOf,
  originOf,
  signedInRoutes,
} from '../page-routes.ts';
import { consoleRidePath } from '../paths.ts';
import { firstValues, type RideField, requestBody } from './ride-request.ts';
import { startPage } from './start-page.tsx';

/** The form that starts a test ride. */
export function consoleRoutes(service: Context, creation: RideCreation): DashboardRoute[] {
  const { config } = service;
  const { page, action } = signedInRoutes(service);
  const schema = newRideSchema(config);

  async function start(request: FormRequest): Promise<Answer> {
    const { ctx, account, owner, form } = request;
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
    try {
      // The form id is the Idempotency-Key: a repeated form returns the same ride.
      const asked: NewRide = {
        key: caller,
        request: rideRequest(validate(schema, body)),
        scenario,
        idempotencyKey: formIdOf(form),
        origin: originOf(request),
      };
      const ride = await makeChange(ctx, asked, creation);
      return { redirectTo: consoleRidePath(ride._id) };
    } catch (error) {
      if (!(error instanceof AppError) || !(error.code in refusals)) throw error;
      ctx.set(error.headers);
      return again(error.status, { refusal: refusals[error.code]?.(error) });
    }
  }

  return [
    page('/console', async ({ account, owner, query }) => {
      await noteConsoleSeen(account, service.now());
      const keys = (await listActiveKeys(owner)).filter(isTestKey);
      const chosen = keys.find(({ _id }) => _id === query('key')) ?? keys.at(-1);
      const values = { ...firstValues, key: chosen?._id ?? '', scenario: scenarioNamed(query('scenario')) };
      return startPage({ config, account, keys, values });
    }),
    action('/console', start),
  ];
}

const isTestKey = (key: KeyFacts): boolean => key.mode === 'test' && !key.revokedAt && !isSuspended(key);

const scenarioNamed = (name: string): TestScenario => testScenarios.find((known) => known === name) ?? 'default';

/** The texts for refusals of a valid creation. */
const refusals: Record<string, (error: AppError) => string> = {
  rate_limited: ({ message, headers }) => `${message}. Try again in ${waitText(Number(headers['Retry-After']))}.`,
  idempotency_conflict: () =>
    'A ride was started from this form before, with other values. Check the values and start another ride.',
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

/** The schema's faults, by field of the form. */
function fieldFaults(faults: Record<string, string>): Faults {
  return Object.fromEntries(
    Object.entries(faults).map(([path, fault]) => {
      const [field, label] = fieldsOfPaths[path] ?? ['fare', 'The request'];
      return [field, `${label} ${fault}`];
    }),
  );
}
