import { noteConsoleSeen } from '../../../shared/accounts/account.ts';
import type { Context } from '../../../shared/base/context.ts';
import { callerOf, isSuspended } from '../../../shared/keys/api-key.ts';
import { listActiveKeys } from '../../../shared/keys/list-keys.ts';
import { findKey, type KeyFacts } from '../../../shared/keys/manage-keys.ts';
import type { NewRide } from '../../../shared/rides/create-ride.ts';
import { type ListedRide, listRides } from '../../../shared/rides/list-rides.ts';
import { type TestScenario, testScenarios } from '../../../shared/rides/ride-types.ts';
import { refusalWords } from '../../../web/kit/creation-refusals.ts';
import type { Faults } from '../../../web/kit/forms.tsx';
import { consoleRidePath } from '../../../web/kit/paths.ts';
import { firstValues, labelledFaults, type RideField, requestBody } from '../../../web/kit/ride-request.ts';
import type { Form } from '../../http/body.ts';
import { makeChange } from '../../http/route.ts';
import { faultsIn, validate } from '../../http/validate.ts';
import type { RideCreation } from '../../rides/creation.ts';
import { newRideSchema, rideRequest } from '../../rides/new-ride.ts';
import {
  type Answer,
  type DashboardRoute,
  type FormRequest,
  formIdOf,
  originOf,
  signedInRoutes,
} from '../page-routes.ts';
import { type StartValues, startPage } from './start-page.tsx';

const shownRides = 5;

/** The form that starts a test ride. */
export function consoleRoutes(service: Context, creation: RideCreation): DashboardRoute[] {
  const { config } = service;
  const { page, action } = signedInRoutes(service);
  const schema = newRideSchema(config);

  async function start(request: FormRequest): Promise<Answer> {
    const { ctx, account, owner, form } = request;
    const [keys, key] = await Promise.all([listActiveKeys(owner), findKey(form.text('key'), owner)]);
    const again = async (status: number, { faults, refusal }: { faults?: Faults; refusal?: string }) => {
      const shown = { config, account, keys: keys.filter(isTestKey), values: typedIn(form), faults, refusal };
      return { status, html: startPage({ ...shown, recent: await recentRides(owner) }) };
    };

    const scenario = testScenarios.find((known) => known === form.text('scenario'));
    const body = requestBody((field) => form.text(field));
    const faults: Faults = {
      ...(!isTestKey(key) && { key: key.revokedAt ? 'This key is revoked: choose another' : 'Choose a test key' }),
      ...(!scenario && { scenario: 'Choose a scenario' }),
      ...fieldFaults(faultsIn(schema, body)),
    };
    if (!scenario || Object.keys(faults).length > 0) return again(422, { faults });

    try {
      // The form id is the Idempotency-Key: a repeated form returns the same ride.
      const asked: NewRide = {
        key: callerOf(key),
        request: rideRequest(validate(schema, body)),
        scenario,
        idempotencyKey: formIdOf(form),
        origin: originOf(request),
      };
      const ride = await makeChange(ctx, asked, creation);
      return { redirectTo: consoleRidePath(ride._id) };
    } catch (error) {
      const refusal = refusalWords(error);
      if (!refusal) throw error;
      ctx.set(refusal.error.headers);
      return again(refusal.error.status, { refusal: refusal.words });
    }
  }

  return [
    page('/console', async ({ account, owner, query }) => {
      await noteConsoleSeen(account, service.now());
      const keys = (await listActiveKeys(owner)).filter(isTestKey);
      const chosen = keys.find(({ _id }) => _id === query('key')) ?? keys.at(-1);
      const values = { ...firstValues, key: chosen?._id ?? '', scenario: scenarioNamed(query('scenario')) };
      return startPage({ config, account, keys, values, recent: await recentRides(owner) });
    }),
    action('/console', start),
  ];
}

/** The account's newest test rides, also those that the API has created. */
const recentRides = async (owner: { accountId: string }): Promise<ListedRide[]> =>
  (await listRides({ mode: 'test' }, shownRides, owner)).rides;

const isTestKey = (key: KeyFacts): boolean => key.mode === 'test' && !key.revokedAt && !isSuspended(key);

const scenarioNamed = (name: string): TestScenario => testScenarios.find((known) => known === name) ?? 'default';

const fields = Object.keys(firstValues) as RideField[];

function typedIn(form: Form): StartValues {
  const names = [...fields, 'key', 'scenario'] as const;
  return Object.fromEntries(names.map((name) => [name, form.text(name)])) as StartValues;
}

/** The fields of the form by the path in the request, and how a fault names them. */
const fieldsOfPaths: Record<string, readonly [field: RideField, label: string]> = {
  ...labelledFaults,
  'pickup.address': ['pickupAddress', 'The address of the pickup'],
  'pickup.lat': ['pickupLat', 'The latitude of the pickup'],
  'pickup.lng': ['pickupLng', 'The longitude of the pickup'],
  'destination.address': ['destinationAddress', 'The address of the destination'],
  'destination.lat': ['destinationLat', 'The latitude of the destination'],
  'destination.lng': ['destinationLng', 'The longitude of the destination'],
  fare: ['fare', 'The fare'],
  carType: ['carType', 'The car type'],
  rideType: ['rideType', 'The ride type'],
  passengerCount: ['passengerCount', 'The number of passengers'],
  'passenger.name': ['passengerName', 'The name of the passenger'],
  'passenger.phone': ['passengerPhone', 'The phone of the passenger'],
  reference: ['reference', 'The reference'],
  notes: ['notes', 'The note'],
  'autoAccept.maxPrice': ['maxPrice', 'The highest price'],
  'autoAccept.maxEtaMinutes': ['maxEtaMinutes', 'The longest time to the pickup'],
  'autoAccept.waitSeconds': ['waitSeconds', 'The seconds to wait'],
  pickupAt: ['pickupTime', 'The pickup time'],
  onDriverCancel: ['onDriverCancel', 'The choice'],
  needs: ['needs', 'The list of needs'],
  distanceKm: ['distanceKm', 'The distance'],
  webhookUrl: ['webhookUrl', 'The webhook URL'],
};

/** The schema's faults, by field of the form. */
function fieldFaults(faults: Record<string, string>): Faults {
  return Object.fromEntries(
    Object.entries(faults).map(([path, fault]) => {
      if (path.split('.')[0] === 'metadata') return ['metadata', metadataFault];
      if (path.startsWith('needs.')) return ['needs', `Each need ${fault}`];
      const [field, label] = fieldsOfPaths[path] ?? ['fare', 'The request'];
      return [field, `${label} ${fault}`];
    }),
  );
}

const metadataFault =
  'Metadata has at most 20 lines, each a name, = and up to 100 characters. A name is a letter and up to 39 more letters, digits, dashes and underscores';
