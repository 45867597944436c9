import type { AuditAction } from '../../../shared/accounts/audit.ts';
import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import type { Context } from '../../../shared/base/context.ts';
import { findKey } from '../../../shared/keys/manage-keys.ts';
import type { Command } from '../../../shared/rides/decide.ts';
import { applyManualStep } from '../../../shared/rides/manual-steps.ts';
import { consoleRidePath } from '../../../web/kit/paths.ts';
import {
  type Answer,
  type DashboardRoute,
  type FormRequest,
  originOf,
  type PageRequest,
  signedInRoutes,
} from '../page-routes.ts';
import { changeAsPartner, recordChange, refusalIn } from '../rides/record-change.ts';
import { type ConsoleRide, consoleRide } from './console-ride.ts';
import type { ConsoleStreams } from './console-streams.ts';
import { consoleState } from './live-ride.tsx';
import { manualStepIn } from './manual-steps.tsx';
import { ridePage } from './ride-page.tsx';

/** The page of a test ride: live view, accept and cancel for the partner, and manual steps for the driver. */
export function consoleRideRoutes(service: Context, streams: ConsoleStreams): DashboardRoute[] {
  const { config } = service;
  const { page, action, data, stream } = signedInRoutes(service);

  const rideOf = ({ owner, param }: PageRequest) => consoleRide(param('rideId'), owner);

  async function showRide(account: CurrentAccount, ride: ConsoleRide, refusal?: string): Promise<string> {
    const key = await findKey(ride.keyId, { accountId: account._id });
    return ridePage({ config, account, ride, apiKey: key, refusal });
  }

  /**
   * Changes the ride on behalf of its key. A refusal is shown on the ride's page, unless the ride already has the
   * change, from an earlier request with this form or from the first of two clicks.
   */
  async function act(
    request: FormRequest,
    change: (ride: ConsoleRide) => Promise<unknown>,
    isDone: (ride: ConsoleRide) => boolean,
    record?: AuditAction,
  ): Promise<Answer> {
    const found = await rideOf(request);
    const redirectTo = consoleRidePath(found._id);
    const refusal = await change(found).then(() => null, refusalIn);
    const ride = await rideOf(request);
    if (record) await recordChange(service, request, ride, record);
    if (!refusal || isDone(ride) || ride.events.some(({ form }) => form === request.sent.id)) return { redirectTo };
    return { status: refusal.status, html: await showRide(request.account, ride, refusal.message) };
  }

  const command = (request: FormRequest, given: Command, record: AuditAction): Promise<Answer> =>
    act(
      request,
      (ride) => changeAsPartner(service, request, ride, given),
      ({ cancelledBy }) => given.action === 'cancel' && cancelledBy === 'partner',
      record,
    );

  /** Makes a manual step instead of the simulated driver. */
  async function stepManually(request: FormRequest): Promise<Answer> {
    const { account, param, form } = request;
    const ride = await rideOf(request);
    const asked = manualStepIn(param('step'), form);
    if ('fault' in asked) return { status: 422, html: await showRide(account, ride, asked.fault) };
    const { step } = asked;
    return act(
      request,
      ({ _id, keyId }) => applyManualStep(service, _id, step, { keyId }, originOf(request)),
      ({ offers }) =>
        step.step === 'withdraw' &&
        offers.some(({ offerId, withdrawnAt }) => offerId === step.offerId && withdrawnAt !== undefined),
    );
  }

  return [
    page('/console/:rideId', async (request) => showRide(request.account, await rideOf(request))),
    data('/console/:rideId/state', async (request) => consoleState(await rideOf(request))),
    stream('/console/:rideId/events', async (request) => {
      const ride = await rideOf(request);
      const state = consoleState(ride);
      if (state.isOver) request.ctx.status = 204;
      else streams.open(request.ctx, { account: request.account, ride, state });
    }),
    action('/console/:rideId/accept', (request) =>
      command(request, { action: 'accept', offerId: request.form.text('offerId') }, 'offer_accepted'),
    ),
    action('/console/:rideId/cancel', (request) =>
      command(request, { action: 'cancel', by: 'partner' }, 'ride_cancelled'),
    ),
    action('/console/:rideId/steps/:step', stepManually),
  ];
}
