import type { Config } from '../../shared/base/config.ts';
import type { ApiKey } from '../../shared/keys/api-key.ts';
import type { ListedRide } from '../../shared/rides/list-rides.ts';
import { testScenarios } from '../../shared/rides/ride-types.ts';
import type { Document } from '../kit/answer.ts';
import { ButtonLink, CodeBlock, Empty, Submit } from '../kit/blocks.tsx';
import { ChangeForm, ChoiceField, type Faults } from '../kit/forms.tsx';
import { MapDialog } from '../kit/map-dialog.tsx';
import { consolePath, keysPath, signaturePath } from '../kit/paths.ts';
import { creationAsCurl, keyVariable, type RideField, requestBody } from '../kit/ride-request.ts';
import { scenarioWords } from '../kit/ride-words.ts';
import { MoreFields, RideFields } from './console-fields.tsx';
import { RecentRides } from './recent-rides.tsx';

type TestKey = Pick<ApiKey, '_id' | 'name' | 'hint' | 'webhookUrl'>;

/** The values of the form's fields. */
export type StartValues = Record<RideField | 'key' | 'scenario', string>;

interface StartData extends Pick<Config, 'tiles'> {
  apiUrl: string;
  /** The account's active test keys. */
  keys: readonly TestKey[];
  values: StartValues;
  /** The newest test rides of the account. */
  recent: readonly ListedRide[];
  faults?: Faults;
}

export function startView({ apiUrl, tiles, keys, values, recent, faults = {} }: StartData): Document {
  return {
    title: 'Test console',
    test: true,
    scripts: ['console.browser.js'],
    lead: <p>Start a test ride and watch it. A simulated driver drives it; no real driver sees it.</p>,
    actions: <ButtonLink to={signaturePath}>Check a signature</ButtonLink>,
    children: (
      <>
        {keys.length === 0 ? (
          <Empty text="A test ride needs a test key, and this account has no active one.">
            <ButtonLink to={`${keysPath}/new?mode=test`} first>
              Create test key
            </ButtonLink>
          </Empty>
        ) : (
          <>
            <ChangeForm action={consolePath} class="console-form">
              <div class="columns">
                <div class="stack">
                  <CourseFields keys={keys} values={values} faults={faults} />
                </div>
                <div class="stack">
                  <RideFields values={values} faults={faults} />
                  <MoreFields values={values} faults={faults} />
                </div>
              </div>
              <div class="start-bar">
                <Submit>Start a test ride</Submit>
              </div>
              <MapDialog tiles={tiles} />
            </ChangeForm>
            <RecentRides rides={recent} />
            <section class="section" id="request" data-api-url={apiUrl} aria-labelledby="request-title">
              <h2 id="request-title">This ride as an API request</h2>
              <p class="quiet">
                Put your key into <code>{keyVariable}</code>: keys are not stored, so this page cannot show it.
              </p>
              <CodeBlock
                label="Request as curl"
                text={creationAsCurl({ apiUrl, scenario: values.scenario, body: requestBody((name) => values[name]) })}
              />
            </section>
          </>
        )}
      </>
    ),
  };
}

/** The key, and the scenario of the simulated driver. */
function CourseFields({ keys, values, faults = {} }: Pick<StartData, 'keys' | 'values' | 'faults'>) {
  return (
    <>
      <ChoiceField
        name="key"
        label="Test key"
        value={values.key}
        options={keys.map(({ _id, name, hint }) => [_id, `${name} (${hint})`])}
        faults={faults}
      />
      <fieldset class="scenarios" id="scenario">
        <legend>Scenario</legend>
        {faults.scenario && <p class="fault">{faults.scenario}</p>}
        {consoleScenarios.map((scenario) => (
          <label key={scenario}>
            <input type="radio" name="scenario" value={scenario} checked={scenario === values.scenario} />
            <span>
              <code>{scenario}</code>
              <span class="quiet">{scenarioWords[scenario]}</span>
            </span>
          </label>
        ))}
      </fieldset>
    </>
  );
}

/** The console is no program that repeats requests, so it lacks the scenarios that refuse the first one. */
const consoleScenarios = testScenarios.filter((scenario) => scenario !== 'rate_limited' && scenario !== 'unavailable');
