import type { AuditAction } from '../../../shared/accounts/audit.ts';
import type { Context } from '../../../shared/base/context.ts';
import { AppError } from '../../../shared/base/errors.ts';
import type { Command } from '../../../shared/rides/decide.ts';
import { rideWithKey } from '../../../shared/rides/list-rides.ts';
import { applyManualStep } from '../../../shared/rides/manual-steps.ts';
import { bringSuccessor } from '../../../shared/rides/rebid.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { hasEnded } from '../../../shared/rides/transitions.ts';
import { attemptsOfRide } from '../../../shared/webhooks/attempts.ts';
import { redeliver } from '../../../shared/webhooks/redeliver.ts';
import type { Answer } from '../../../web/kit/answer.ts';
import { cancelQuestion } from '../../../web/kit/cancel-ride.tsx';
import { consoleRidePath, entryPath, ridePath } from '../../../web/kit/paths.ts';
import { changeByForm, refusalIn } from '../../../web/kit/record-change.ts';
import { ownRide } from '../../../web/kit/ride-parts.tsx';
import { manualStepIn } from '../console/manual-steps.tsx';
import {
  type DashboardRoute,
  type FormRequest,
  originOf,
  type PageRequest,
  requesterOf,
  signedInRoutes,
} from '../page-routes.ts';
import { followedRide, type NewsStreams } from './follow-ride.ts';
import { newsOf, versionOf } from './ride-news.ts';
import { ridePage } from './ride-page.tsx';

/**
 * The page of one ride, its stream, and its forms: accept an offer, cancel the ride, resend an event, and for a test ride
 * the manual steps. The test console has the same page below its own path, only for test rides.
 */
export function rideRoutes(service: Context, streams: NewsStreams): DashboardRoute[] {
  const { action } = signedInRoutes(service);
  const ofConsole = routesOf(service, streams, { section: 'console', pathOf: consoleRidePath });
  const ofRides = routesOf(service, streams, { section: 'rides', pathOf: ridePath });
  return [
    ...ofConsole.routes,
    action('/console/:rideId/steps/:step', ofConsole.stepManually),
    ...ofRides.routes,
    action('/rides/:rideId/events/:seq/send-again', ofRides.sendAgain),
  ];
}

const cancelEvent = (
  <>
    Your system gets the event <code>ride.status: cancelled</code>.
  </>
);

interface Place {
  section: 'rides' | 'console';
  pathOf(rideId: string): string;
}

function routesOf(service: Context, streams: NewsStreams, { section, pathOf }: Place) {
  const { config } = service;
  const { page, action, data, stream } = signedInRoutes(service);

  /** Throws `not_found` for a ride that the section does not show. */
  function shown<Found extends Pick<Ride, 'mode'>>(ride: Found): Found {
    if (section === 'console' && ride.mode !== 'test') throw new AppError('not_found');
    return ride;
  }
  const followed = async ({ owner, param }: PageRequest) => shown(await followedRide(param('rideId'), owner));
  const rideOf = async (request: PageRequest) => shown(await ownRide(request));

  async function showRide(request: PageRequest, entryId = request.query('entry'), refusal?: string): Promise<string> {
    const { account, owner, param } = request;
    const rideId = param('rideId');
    const [found, attempts, news] = await Promise.all([
      rideWithKey(rideId, owner),
      attemptsOfRide(rideId, owner),
      followed(request).then(newsOf),
    ]);
    if (!found) throw new AppError('not_found');
    // The page names the successor, so it must exist.
    if (found.ride.nextRideId && !found.ride.replacedBy) await bringSuccessor(service, rideId);
    // The two reads of the ride may differ. Then the script finds a newer version in the stream.
    const version = versionOf(found.ride);
    const latest = { ...news, version, isOver: news.isOver && news.version === version };
    const path = pathOf(rideId);
    return ridePage({
      ...{ config, account, path, ...found, attempts, news: latest, entryId, refusal, now: service.now() },
    });
  }

  /** A refusal is shown on the ride's page. */
  const refused = async (request: FormRequest, { status, code, message }: AppError): Promise<Answer> => ({
    ...{ status, code, html: await showRide(request, '', message) },
  });

  /** The first of two clicks may have cancelled the ride already. */
  async function change(request: FormRequest, command: Command, what: AuditAction): Promise<Answer> {
    await rideOf(request);
    const { ride, refusal } = await changeByForm(request, command, what);
    const isDone = command.action === 'cancel' && ride.cancelledBy === 'partner';
    return !refusal || isDone ? { redirectTo: pathOf(ride._id) } : refused(request, refusal);
  }

  /** Makes a manual step instead of the simulated driver, unless the ride already has the change. */
  async function stepManually(request: FormRequest): Promise<Answer> {
    const { param, form, sent } = request;
    const { _id, keyId } = await rideOf(request);
    const asked = manualStepIn(param('step'), form);
    if ('fault' in asked) return { status: 422, html: await showRide(request, '', asked.fault) };
    const { step } = asked;
    const stepped = applyManualStep(service, _id, step, { keyId }, originOf(request));
    const refusal = await stepped.then(() => null, refusalIn);
    const { events, offers } = await rideOf(request);
    const isDone =
      events.some((event) => event.form === sent.id) ||
      (step.step === 'withdraw' && offers.some((offer) => offer.offerId === step.offerId && offer.withdrawnAt));
    return !refusal || isDone ? { redirectTo: pathOf(_id) } : refused(request, refusal);
  }

  async function sendAgain(request: FormRequest): Promise<Answer> {
    const { param } = request;
    const event = { rideId: param('rideId'), seq: Number(param('seq')) };
    try {
      const attemptId = await redeliver(service, event, requesterOf(request));
      return { redirectTo: entryPath(event.rideId, `attempt-${attemptId}`) };
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'not_found') throw error;
      return { html: await showRide(request, `event-${event.seq}`, error.message), status: error.status };
    }
  }

  const base = `/${section}/:rideId`;
  const routes = [
    page(base, async (request) => ({ html: await showRide(request) })),
    data(`${base}/state`, async (request) => ({ json: newsOf(await followed(request)) })),
    stream(`${base}/events`, async (request) => {
      const ride = await followed(request);
      const state = newsOf(ride);
      if (state.isOver) request.ctx.status = 204;
      else streams.open(request.ctx, { account: request.account, ride, state });
    }),
    action(`${base}/accept`, (request) =>
      change(request, { action: 'accept', offerId: request.form.text('offerId') }, 'offer_accepted'),
    ),
    page(`${base}/cancel`, async (request) => {
      const ride = await rideOf(request);
      const back = pathOf(ride._id);
      if (hasEnded(ride.status)) return { redirectTo: back };
      const question = cancelQuestion(ride, { action: `${back}/cancel`, back, effect: cancelEvent });
      return { html: request.inFrame({ section, ...question }) };
    }),
    action(`${base}/cancel`, (request) => change(request, { action: 'cancel', by: 'partner' }, 'ride_cancelled')),
  ];
  return { routes, stepManually, sendAgain };
}
