import type { Account } from '../../../shared/accounts/account.ts';
import type { Config } from '../../../shared/base/config.ts';
import { greatCircleKm } from '../../../shared/base/great-circle.ts';
import { CodeBlock, Id } from '../facts.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import type { ConsoleRide } from './console-ride.ts';
import { creationAsCurl, keyVariable } from './curl.ts';
import { consoleState, LiveRide } from './live-ride.tsx';
import { scenarioWords } from './scenarios.ts';

interface RidePageProps {
  config: Pick<Config, 'publicBaseUrl' | 'trackBaseUrl'>;
  account: Account;
  ride: ConsoleRide;
  keyName: string;
  /** Where the key's events go, or undefined where they go nowhere. */
  webhookUrl?: string;
  /** Why what was asked for was not done. */
  refusal?: string;
}

/** A test ride, followed live. Without scripts it shows the ride as it is now. */
export function ridePage({ config, account, ride, keyName, webhookUrl, refusal }: RidePageProps): string {
  const { scenario = 'default' } = ride;
  const state = consoleState(config, ride);
  return dashboardPage({
    title: 'Test ride',
    account,
    room: 'console',
    test: true,
    hasErrors: refusal !== undefined,
    scripts: ['console-ride-page.js'],
    children: (
      <>
        <PageHead
          title="Test ride"
          actions={
            <a class="btn second" href={`/dashboard/console?key=${ride.keyId}&scenario=${scenario}`}>
              Start another
            </a>
          }
        >
          <p>
            <Id id={ride._id} /> of <strong>{keyName}</strong>
          </p>
          <p>
            <code>{scenario}</code>: {scenarioWords[scenario]}
          </p>
        </PageHead>
        {refusal && (
          <div class="notice bad" role="alert" tabIndex={-1} data-focus>
            <p>
              <strong>{refusal}.</strong> The ride below is as it is now.
            </p>
          </div>
        )}
        <noscript>
          <p class="notice">
            <span>
              Without scripts this page does not follow the ride:{' '}
              <a href={`/dashboard/console/${ride._id}`}>reload it</a> for the latest state.
            </span>
          </p>
        </noscript>
        <p class="notice bad" id="connection" hidden>
          Connection lost. Trying again…
        </p>
        <p class="spoken" role="status" id="spoken" />
        <div class="console-ride" id="ride" data-state={JSON.stringify({ ...state, html: '' })}>
          <LiveRide ride={ride} links={config} />
          <div class="console-more">
            {!webhookUrl && !ride.webhookUrl && (
              <p class="quiet">
                This key has no webhook URL, so its events are sent to nobody.{' '}
                <a href={`/dashboard/keys/${ride.keyId}`}>Set a URL</a>
              </p>
            )}
            <section class="section" aria-labelledby="request">
              <h2 id="request">The request</h2>
              <p class="quiet">
                What this page did, as a call of the API. Put your key into <code>{keyVariable}</code>: keys are not
                stored.
              </p>
              <CodeBlock
                label="Request as curl"
                text={creationAsCurl({ apiUrl: `${config.publicBaseUrl}/v1`, scenario, body: requestOf(ride) })}
              />
              <p class="quiet">
                A step by hand is a call too, such as <code>POST /v1/test/rides/:rideId/arrive</code>.
              </p>
            </section>
          </div>
        </div>
      </>
    ),
  });
}

/** The body by which a ride was created, without what is left to its default. */
function requestOf(ride: ConsoleRide): object {
  const {
    pickup,
    destination,
    carType,
    rideType,
    passengerCount,
    distanceKm,
    notes,
    passenger,
    webhookUrl,
    autoAccept,
  } = ride;
  return {
    pickup,
    destination,
    fare: ride.firstFare ?? ride.fare,
    ...(carType !== 'regular' && { carType }),
    ...(rideType !== 'standard' && { rideType }),
    ...(passengerCount !== 1 && { passengerCount }),
    ...(distanceKm !== greatCircleKm(pickup, destination) && { distanceKm }),
    ...(passenger && { passenger }),
    ...(notes !== undefined && { notes }),
    ...(webhookUrl !== undefined && { webhookUrl }),
    ...(autoAccept && { autoAccept }),
  };
}
