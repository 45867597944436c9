import { noteConsoleSeen } from '../../shared/accounts/account.ts';
import { isSuspended } from '../../shared/keys/api-key.ts';
import { listActiveKeys } from '../../shared/keys/list-keys.ts';
import { findKey, type KeyFacts } from '../../shared/keys/manage-keys.ts';
import { type ListedRide, listRides } from '../../shared/rides/list-rides.ts';
import { type TestScenario, testScenarios } from '../../shared/rides/ride-types.ts';
import type { Answer, SentRequest } from '../kit/answer.ts';
import { refusalWords } from '../kit/creation-refusals.ts';
import { type Again, form } from '../kit/form.ts';
import type { Faults } from '../kit/forms.tsx';
import { page } from '../kit/page.tsx';
import { consoleRidePath } from '../kit/paths.ts';
import { firstValues, labelledFaults, type RideField, requestBody } from '../kit/ride-request.ts';
import { builders } from '../kit/roles.ts';
import { type StartValues, startView } from './console-view.tsx';

const shownRides = 5;

/** The form that starts a test ride, and the newest ones. */
export const testConsole = page('/console', {
  section: 'console',
  entry: 'Console',
  roles: builders,
  async read({ account, owner, query, service, text }) {
    if (!text) await noteConsoleSeen(account, service.now());
    const keys = (await listActiveKeys(owner)).filter(isTestKey);
    const chosen = keys.find(({ _id }) => _id === query('key')) ?? keys.at(-1);
    const first = { ...firstValues, key: chosen?._id ?? '', scenario: scenarioNamed(query('scenario')) };
    const values: StartValues = text ? typedIn(text) : first;
    const { publicBaseUrl, tiles } = service.config;
    return { apiUrl: `${publicBaseUrl}/v1`, tiles, keys, values, recent: await recentRides(owner) };
  },
  view: startView,
  faultTitle: 'Not started yet',
  forms: { start: form({ path: '/console', act: start }) },
});

async function start(request: SentRequest): Promise<Answer | Again> {
  const { owner, text } = request;
  const key = await findKey(text('key'), owner);
  const scenario = testScenarios.find((known) => known === text('scenario'));
  const body = requestBody(text);
  const faults: Faults = {
    ...(!isTestKey(key) && { key: key.revokedAt ? 'This key is revoked: choose another' : 'Choose a test key' }),
    ...(!scenario && { scenario: 'Choose a scenario' }),
    ...fieldFaults(request.faultsOfRide(body)),
  };
  if (!scenario || Object.keys(faults).length > 0) return { again: 422, faults, show: { faults } };
  try {
    return { redirectTo: consoleRidePath((await request.createRide(key, body, scenario))._id) };
  } catch (error) {
    const refused = refusalWords(error);
    if (!refused) throw error;
    const refusal = (
      <p>
        <strong>Not started yet.</strong> {refused.words}
      </p>
    );
    return { again: refused.error.status, headers: refused.error.headers, refusal };
  }
}

/** The account's newest test rides, also those that the API has created. */
const recentRides = async (owner: { accountId: string }): Promise<ListedRide[]> =>
  (await listRides({ mode: 'test' }, shownRides, owner)).rides;

const isTestKey = (key: KeyFacts): boolean => key.mode === 'test' && !key.revokedAt && !isSuspended(key);

const scenarioNamed = (name: string): TestScenario => testScenarios.find((known) => known === name) ?? 'default';

const fields = Object.keys(firstValues) as RideField[];

function typedIn(text: SentRequest['text']): StartValues {
  const names = [...fields, 'key', 'scenario'] as const;
  return Object.fromEntries(names.map((name) => [name, text(name)])) as StartValues;
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
  'notify.contacts.0.phone': ['contact', 'The phone of the relative'],
  'passenger.locale': ['passengerLocale', 'The language of the passenger'],
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
