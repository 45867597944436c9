import type { Account } from '../../../shared/accounts/account.ts';
import type { Config } from '../../../shared/base/config.ts';
import type { Context } from '../../../shared/base/context.ts';
import { AppError } from '../../../shared/base/errors.ts';
import { greatCircleKm } from '../../../shared/base/great-circle.ts';
import { findKey } from '../../../shared/keys/manage-keys.ts';
import { applyAction } from '../../../shared/rides/change-ride.ts';
import type { Command } from '../../../shared/rides/decide.ts';
import { applyManualStep } from '../../../shared/rides/manual-steps.ts';
import { CodeBlock } from '../blocks.tsx';
import { Id } from '../facts.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import {
  type Answer,
  type DashboardRoute,
  type FormRequest,
  originOf,
  type PageRequest,
  signedInRoutes,
} from '../page-routes.ts';
import { consoleRidePath } from '../paths.ts';
import { type ConsoleRide, consoleRide } from './console-ride.ts';
import type { ConsoleStreams } from './console-streams.ts';
import { consoleState, LiveRide } from './live-ride.tsx';
import { manualStepIn } from './manual-steps.tsx';
import { creationAsCurl, keyVariable } from './ride-request.ts';
import { scenarioWords } from './start-page.tsx';

/** The page of a test ride: live view, accept and cancel for the partner, and manual steps for the driver. */
export function consoleRideRoutes(service: Context, streams: ConsoleStreams): DashboardRoute[] {
  const { config } = service;
  const { page, action, data, stream } = signedInRoutes(service);

  const rideOf = ({ owner, param }: PageRequest) => consoleRide(param('rideId'), owner);

  async function showRide(account: Account, ride: ConsoleRide, refusal?: string): Promise<string> {
    const key = await findKey(ride.keyId, { accountId: account._id });
    return ridePage({ config, account, ride, keyName: key.name, webhookUrl: key.webhookUrl, refusal });
  }

  /**
   * Changes the ride on behalf of its key. A refusal is shown on the ride's page. It is not shown if the ride already
   * has the change, from an earlier request with this form or from the first of two clicks.
   */
  async function act(
    request: FormRequest,
    change: (rideId: string, owner: { keyId: string }) => Promise<unknown>,
    isDone: (ride: ConsoleRide) => boolean,
  ) {
    const { _id, keyId } = await rideOf(request);
    const redirectTo = consoleRidePath(_id);
    try {
      await change(_id, { keyId });
      return { redirectTo };
    } catch (error) {
      if (!(error instanceof AppError) || (error.status !== 409 && error.code !== 'offer_not_found')) throw error;
      const ride = await rideOf(request);
      if (isDone(ride) || ride.events.some(({ form }) => form === request.sent.id)) return { redirectTo };
      return { status: error.status, html: await showRide(request.account, ride, error.message) };
    }
  }

  const command = (request: FormRequest, given: Command): Promise<Answer> =>
    act(
      request,
      (rideId, owner) => applyAction(service, rideId, given, owner, originOf(request)),
      ({ cancelledBy }) => given.action === 'cancel' && cancelledBy === 'partner',
    );

  /** Makes a manual step in place of the simulated driver. */
  async function stepManually(request: FormRequest): Promise<Answer> {
    const { account, param, form } = request;
    const ride = await rideOf(request);
    const asked = manualStepIn(param('step'), form);
    if ('fault' in asked) return { status: 422, html: await showRide(account, ride, asked.fault) };
    const { step } = asked;
    return act(
      request,
      (rideId, owner) => applyManualStep(service, rideId, step, owner, originOf(request)),
      ({ offers }) =>
        step.step === 'withdraw' &&
        offers.some(({ offerId, withdrawnAt }) => offerId === step.offerId && withdrawnAt !== undefined),
    );
  }

  return [
    page('/console/:rideId', async (request) => showRide(request.account, await rideOf(request))),
    data('/console/:rideId/state', async (request) => consoleState(config, await rideOf(request))),
    stream('/console/:rideId/events', async (request) => {
      const ride = await rideOf(request);
      const state = consoleState(config, ride);
      if (state.isOver) request.ctx.status = 204;
      else streams.open(request.ctx, ride, state);
    }),
    action('/console/:rideId/accept', (request) =>
      command(request, { action: 'accept', offerId: request.form.text('offerId') }),
    ),
    action('/console/:rideId/cancel', (request) => command(request, { action: 'cancel', by: 'partner' })),
    action('/console/:rideId/steps/:step', stepManually),
  ];
}

interface RidePageProps {
  config: Pick<Config, 'publicBaseUrl' | 'trackBaseUrl'>;
  account: Account;
  ride: ConsoleRide;
  keyName: string;
  /** The key's default webhook URL. */
  webhookUrl?: string;
  /** The reason why a form was refused. */
  refusal?: string;
}

/** A test ride, updated live. Without scripts it shows the ride as it is now. */
function ridePage({ config, account, ride, keyName, webhookUrl, refusal }: RidePageProps): string {
  const { scenario = 'default' } = ride;
  const state = consoleState(config, ride);
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
        <div class="console-ride" id="ride" data-state={JSON.stringify({ ...state, html: '' })}>
          <LiveRide ride={ride} links={config} />
          <div class="console-more">
            {!webhookUrl && !ride.webhookUrl && (
              <p class="quiet">
                This key has no webhook URL, so its events are not sent.{' '}
                <a href={`/dashboard/keys/${ride.keyId}`}>Set a URL</a>
              </p>
            )}
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

/** The body of the ride's creation, without defaults. */
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
    needs,
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
    ...(needs && { needs }),
  };
}
