import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import type { Config } from '../../../shared/base/config.ts';
import { greatCircleKm } from '../../../shared/base/great-circle.ts';
import type { KeyFacts } from '../../../shared/keys/manage-keys.ts';
import { trackUrl } from '../../../shared/rides/events.ts';
import { fieldNames, shownFields } from '../../../shared/rides/fields.ts';
import { CodeBlock, Fact } from '../blocks.tsx';
import { Id, KeyName } from '../facts.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import { consoleRidePath, keyPath, ridePath } from '../paths.ts';
import { RequestFacts } from '../rides/entry-detail.tsx';
import { MapWords, RideMap } from '../rides/ride-map.tsx';
import type { ConsoleRide } from './console-ride.ts';
import type { ConsoleState } from './console-state.ts';
import { consoleState, LiveRide } from './live-ride.tsx';
import { creationAsCurl, firstValues, keyVariable } from './ride-request.ts';
import { scenarioWords } from './start-page.tsx';

interface RidePageProps {
  config: Pick<Config, 'publicBaseUrl' | 'trackBaseUrl' | 'tiles'>;
  account: CurrentAccount;
  ride: ConsoleRide;
  /** `apiKey`, because preact reserves the property `key`. */
  apiKey: Pick<KeyFacts, 'name' | 'mode' | 'webhookUrl'>;
  /** The reason why a form was refused. */
  refusal?: string;
}

/** A test ride, updated live. Without scripts it shows the ride as it is now. */
export function ridePage({ config, account, ride, apiKey, refusal }: RidePageProps): string {
  const { scenario = 'default' } = ride;
  const state = consoleState(ride);
  return dashboardPage({
    title: 'Test ride',
    account,
    section: 'console',
    test: true,
    hasErrors: refusal !== undefined,
    scripts: ['console-ride-page.js'],
    children: (
      <>
        <PageHead
          title="Test ride"
          actions={
            <a class="btn second" href={`/dashboard/console?key=${ride.keyId}&scenario=${scenario}`}>
              Start a test ride
            </a>
          }
        />
        {refusal && (
          <div class="notice bad" role="alert" tabIndex={-1} data-focus>
            <p>
              <strong>{refusal}.</strong> The current state of the ride is shown below.
            </p>
          </div>
        )}
        <noscript>
          <p class="notice">
            <span>
              Without scripts this page does not follow the ride: <a href={consoleRidePath(ride._id)}>reload it</a> for
              the latest state.
            </span>
          </p>
        </noscript>
        <p class="notice bad" id="connection" hidden>
          Connection lost. Trying again…
        </p>
        <p class="spoken" role="status" id="spoken" />
        <div
          class="console-ride"
          id="ride"
          data-path={consoleRidePath(ride._id)}
          data-state={JSON.stringify({ ...state, html: '' })}
        >
          <LiveRide ride={ride} />
          {state.map && <MapCard ride={ride} map={state.map} config={config} />}
          <div class="console-more">
            {!apiKey.webhookUrl && !ride.webhookUrl && (
              <p class="quiet">
                This key has no webhook URL, so its events are not sent.{' '}
                <a href={keyPath(ride.keyId)}>Set webhook URL</a>
              </p>
            )}
            <Fields ride={ride} apiKey={apiKey} />
            <section class="section" aria-labelledby="request">
              <h2 id="request">The request</h2>
              <p class="quiet">
                The API request that creates this ride. Put your key into <code>{keyVariable}</code>: keys are not
                stored.
              </p>
              <CodeBlock
                label="Request as curl"
                text={creationAsCurl({ apiUrl: `${config.publicBaseUrl}/v1`, scenario, body: requestOf(ride) })}
              />
              <p class="quiet">
                A manual step is also an API request, such as <code>POST /v1/test/rides/:rideId/arrive</code>.
              </p>
            </section>
          </div>
        </div>
      </>
    ),
  });
}

/** The live map, as the passenger sees it. A script fills it and keeps its words up to date (browser/ride-map.ts). */
function MapCard({ ride, map, config }: Pick<RidePageProps, 'ride' | 'config'> & Required<Pick<ConsoleState, 'map'>>) {
  return (
    <section class="console-map" aria-label="Live map">
      <div class="console-card-head">
        <MapWords map={map} />
        <a href={trackUrl(config.trackBaseUrl, ride)}>Live map</a>
      </div>
      <RideMap tiles={config.tiles} />
    </section>
  );
}

/** All fields of the ride's request, and what identifies the ride. */
function Fields({ ride, apiKey }: Pick<RidePageProps, 'ride' | 'apiKey'>) {
  const { scenario = 'default' } = ride;
  return (
    <section class="section" aria-labelledby="fields">
      <div class="section-head">
        <h2 id="fields">All fields</h2>
        <a href={ridePath(ride._id)}>Requests and answers</a>
      </div>
      <dl class="card facts">
        <RequestFacts ride={ride} />
        <Fact name="Simulated driver">{scenarioWords[scenario]}</Fact>
        <Fact name="Key">
          <KeyName keyId={ride.keyId} name={apiKey.name} mode={apiKey.mode} />
        </Fact>
        <Fact name="Ride id">
          <Id id={ride._id} />
        </Fact>
      </dl>
    </section>
  );
}

/** The body of the ride's creation, without defaults. */
function requestOf(ride: ConsoleRide): object {
  const { pickup, destination, passengerCount, distanceKm, carType, rideType } = ride;
  const { passenger, notes, reference, metadata, autoAccept, needs, ...others } = shownFields(ride, fieldNames);
  return {
    pickup,
    destination,
    fare: ride.firstFare ?? ride.fare,
    ...(carType !== firstValues.carType && { carType }),
    ...(rideType !== firstValues.rideType && { rideType }),
    ...(passengerCount !== Number(firstValues.passengerCount) && { passengerCount }),
    ...(distanceKm !== greatCircleKm(pickup, destination) && { distanceKm }),
    passenger,
    notes,
    reference,
    metadata,
    autoAccept,
    needs,
    ...others,
  };
}
