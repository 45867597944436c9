import type { AuditAction } from '../../../shared/accounts/audit.ts';
import type { Context } from '../../../shared/base/context.ts';
import { AppError } from '../../../shared/base/errors.ts';
import type { Command } from '../../../shared/rides/decide.ts';
import { rideWithKeyName } from '../../../shared/rides/list-rides.ts';
import { bringSuccessor } from '../../../shared/rides/rebid.ts';
import { hasEnded } from '../../../shared/rides/transitions.ts';
import { attemptsOfRide } from '../../../shared/webhooks/attempts.ts';
import { redeliver } from '../../../shared/webhooks/redeliver.ts';
import { entryPath, ridePath } from '../../../web/kit/paths.ts';
import { ownRide } from '../../../web/kit/ride-parts.tsx';
import {
  type Answer,
  type DashboardRoute,
  type FormRequest,
  type PageRequest,
  requesterOf,
  signedInRoutes,
} from '../page-routes.ts';
import { cancelRidePage } from './cancel-ride.tsx';
import { followedRide, type NewsStreams } from './follow-ride.ts';
import { changeByForm } from './record-change.ts';
import { newsOf, versionOf } from './ride-news.ts';
import { ridePage } from './ride-page.tsx';

/** The page of one ride, its stream, and its forms: accept an offer, cancel the ride, resend an event. */
export function rideRoutes(service: Context, streams: NewsStreams): DashboardRoute[] {
  const { config } = service;
  const { page, action, data, stream } = signedInRoutes(service);

  async function showRide(request: PageRequest, entryId = request.query('entry'), refusal?: string): Promise<string> {
    const { account, owner, param } = request;
    const rideId = param('rideId');
    const [found, attempts, followed] = await Promise.all([
      rideWithKeyName(rideId, owner),
      attemptsOfRide(rideId, owner),
      followedRide(rideId, owner),
    ]);
    if (!found) throw new AppError('not_found');
    // The page names the successor, so it must exist.
    if (found.ride.nextRideId && !found.ride.replacedBy) await bringSuccessor(service, rideId);
    // The two reads of the ride may differ. Then the script finds a newer version in the stream.
    const [latest, version] = [newsOf(followed), versionOf(found.ride)];
    const news = { ...latest, version, isOver: latest.isOver && latest.version === version };
    return ridePage({ config, account, ...found, attempts, news, entryId, refusal, now: service.now() });
  }

  /** A refusal is shown on the ride's page. */
  async function change(request: FormRequest, command: Command, what: AuditAction): Promise<Answer> {
    const { ride, refusal } = await changeByForm(service, request, command, what);
    if (!refusal) return { redirectTo: ridePath(ride._id) };
    const { status, code, message } = refusal;
    return { status, code, html: await showRide(request, '', message) };
  }

  return [
    page('/rides/:rideId', (request) => showRide(request)),
    data('/rides/:rideId/state', async ({ owner, param }) => newsOf(await followedRide(param('rideId'), owner))),
    stream('/rides/:rideId/events', async ({ account, ctx, owner, param }) => {
      const ride = await followedRide(param('rideId'), owner);
      const state = newsOf(ride);
      if (state.isOver) ctx.status = 204;
      else streams.open(ctx, { account, ride, state });
    }),

    action('/rides/:rideId/accept', (request) =>
      change(request, { action: 'accept', offerId: request.form.text('offerId') }, 'offer_accepted'),
    ),

    page('/rides/:rideId/cancel', async (request) => {
      const ride = await ownRide(request);
      if (hasEnded(ride.status)) return { redirectTo: ridePath(ride._id) };
      return cancelRidePage(request.account, ride);
    }),
    action('/rides/:rideId/cancel', (request) =>
      change(request, { action: 'cancel', by: 'partner' }, 'ride_cancelled'),
    ),

    action('/rides/:rideId/events/:seq/send-again', async (request) => {
      const { param } = request;
      const event = { rideId: param('rideId'), seq: Number(param('seq')) };
      try {
        const attemptId = await redeliver(service, event, requesterOf(request));
        return { redirectTo: entryPath(event.rideId, `attempt-${attemptId}`) };
      } catch (error) {
        if (!(error instanceof AppError) || error.code === 'not_found') throw error;
        return { html: await showRide(request, `event-${event.seq}`, error.message), status: error.status };
      }
    }),
  ];
}
