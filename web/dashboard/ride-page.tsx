import type { AuditAction } from '../../shared/accounts/audit.ts';
import { AppError } from '../../shared/base/errors.ts';
import { batchedFind } from '../../shared/base/mongo/batch.ts';
import { committedReads } from '../../shared/base/mongo/durability.ts';
import { messagesOfRide, shownMessage } from '../../shared/messages/stored-messages.ts';
import { applyManualStep } from '../../shared/rides/apply-manual-step.ts';
import type { Command } from '../../shared/rides/decide.ts';
import { rideWithKey } from '../../shared/rides/list-rides.ts';
import { withReportedPosition } from '../../shared/rides/read-ride.ts';
import { bringSuccessor } from '../../shared/rides/rebid.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { hasEnded } from '../../shared/rides/transitions.ts';
import { attemptsOfRide } from '../../shared/webhooks/attempts.ts';
import { redeliver } from '../../shared/webhooks/redeliver.ts';
import type { PageRequest, RideView, SentRequest } from '../kit/answer.ts';
import { cancelQuestion } from '../kit/cancel-question.tsx';
import { type Again, form } from '../kit/form.ts';
import { type Page, page } from '../kit/page.tsx';
import { consoleRidePath, entryPath, ridePath } from '../kit/paths.ts';
import { changeByForm, refusalIn } from '../kit/record-change.ts';
import { ownRide } from '../kit/ride-parts.tsx';
import { bookers, builders } from '../kit/roles.ts';
import { trackFields } from '../track/track-state.ts';
import { manualStepIn } from './driver-steps.tsx';
import { type FollowedRide, newsOf, type RideNews, versionOf } from './ride-news.ts';
import { rideView, type ShownRide } from './ride-page-view.tsx';

const newsFields = { ...trackFields, accountId: 1, rev: 1, settledSeq: 1, unsettled: 1 } as const;
const findRide = batchedFind<Ride, FollowedRide>(rides, '_id', newsFields, committedReads);

/** How the stream of a ride's page reads and shows the ride. */
const newsView: RideView<FollowedRide, RideNews> = {
  fields: newsFields,
  complete: withReportedPosition,
  stateOf: newsOf,
  isLast: ({ isOver }) => isOver,
  // The car is moving, so a new time means a new position.
  isAlwaysNews: ({ map }) => map?.position !== undefined,
  pollMs: 2_000,
};

const cancelEvent = (
  <>
    Your system gets the event <code>ride.status: cancelled</code>.
  </>
);

/** The page again, with the reason of the refusal and the current state of the ride. */
const refused = ({ status, code, message }: AppError, entryId = ''): Again => ({
  ...{ again: status, code, show: { refusal: message, entryId } },
});

interface Place {
  section: 'rides' | 'console';
  pathOf(rideId: string): string;
  forms: Parameters<typeof page>[1]['forms'];
}

/**
 * The page of one ride, its stream, and its forms: accept an offer, cancel the ride, and those of the place. The test
 * console has the same page below its own path, only for test rides.
 */
function ridePages({ section, pathOf, forms }: Place): Page[] {
  const path = `/${section}/:rideId`;
  const roles = section === 'console' ? builders : bookers;

  async function followed({ owner, param }: PageRequest): Promise<FollowedRide> {
    const ride = await findRide(param('rideId'));
    if (ride?.accountId !== owner.accountId) throw new AppError('not_found');
    return withReportedPosition(shownIn(section, ride));
  }

  async function read(request: PageRequest): Promise<ShownRide> {
    const { account, owner, param, query, service } = request;
    const rideId = param('rideId');
    const [found, attempts, messages, news] = await Promise.all([
      rideWithKey(rideId, owner),
      attemptsOfRide(rideId, owner),
      messagesOfRide(rideId),
      followed(request).then(newsOf),
    ]);
    if (!found) throw new AppError('not_found');
    // The page names the successor, so it must exist.
    if (found.ride.nextRideId && !found.ride.replacedBy) await bringSuccessor(service, rideId);
    // The two reads of the ride may differ. Then the script finds a newer version in the stream.
    const version = versionOf(found.ride);
    const latest = { ...news, version, isOver: news.isOver && news.version === version };
    return {
      ...{ config: service.config, account, section, path: pathOf(rideId), ...found, attempts, news: latest },
      messages: messages.map((row) => shownMessage(service.config, row)),
      ...{ entryId: query('entry'), now: service.now() },
    };
  }

  /** The first of two clicks may have cancelled the ride already. */
  async function change(request: SentRequest, command: Command, what: AuditAction): Promise<Again | undefined> {
    shownIn(section, await ownRide(request));
    const { ride, refusal } = await changeByForm(request, command, what);
    const isDone = command.action === 'cancel' && ride.cancelledBy === 'partner';
    return refusal && !isDone ? refused(refusal) : undefined;
  }

  const ride = page(path, {
    section,
    roles,
    read,
    view: rideView,
    state: async (request) => newsOf(await followed(request)),
    async stream(request) {
      const followedRide = await followed(request);
      const state = newsOf(followedRide);
      return state.isOver ? { empty: true } : request.followRide(newsView, followedRide, state);
    },
    forms: {
      accept: form({
        path: `${path}/accept`,
        act: (request) => change(request, { action: 'accept', offerId: request.text('offerId') }, 'offer_accepted'),
      }),
      cancel: form({
        path: `${path}/cancel`,
        act: (request) => change(request, { action: 'cancel', by: 'partner' }, 'ride_cancelled'),
      }),
      ...forms,
    },
  });
  const cancel = page(`${path}/cancel`, {
    section,
    roles,
    find: async (request) => shownIn(section, await ownRide(request)),
    leave: ({ _id, status }) => hasEnded(status) && pathOf(_id),
    read: (_, ride) => ride,
    view: (ride: Ride) =>
      cancelQuestion(ride, { action: `${pathOf(ride._id)}/cancel`, back: pathOf(ride._id), effect: cancelEvent }),
  });
  return [ride, cancel];
}

/** Throws `not_found` for a ride that the section does not show. */
function shownIn<Found extends Pick<Ride, 'mode'>>(section: Place['section'], ride: Found): Found {
  if (section === 'console' && ride.mode !== 'test') throw new AppError('not_found');
  return ride;
}

const step = form({
  path: '/console/:rideId/steps/:step',
  act: stepManually,
});

/** Makes a manual step instead of the simulated driver, unless the ride already has the change. */
async function stepManually(request: SentRequest): Promise<Again | undefined> {
  const { service, sent, requestId } = request;
  const { _id, keyId, pinCode } = shownIn('console', await ownRide(request));
  const asked = manualStepIn(request);
  if ('fault' in asked) return { again: 422, show: { refusal: asked.fault } };
  // The page shows the PIN, so the person need not type it.
  const step = asked.step.step === 'start' ? { ...asked.step, pin: pinCode } : asked.step;
  const stepped = applyManualStep(service, _id, step, { keyId }, { by: 'dashboard', requestId, form: sent.id });
  const refusal = await stepped.then(() => null, refusalIn);
  const { events, offers, openedAt } = await ownRide(request);
  const isDone =
    events.some((event) => event.form === sent.id) ||
    (step.step === 'open' && openedAt !== undefined) ||
    (step.step === 'withdraw' && offers.some((offer) => offer.offerId === step.offerId && offer.withdrawnAt));
  return refusal && !isDone ? refused(refusal) : undefined;
}

const sendAgain = form({
  path: '/rides/:rideId/events/:seq/send-again',
  roles: builders,
  async act(request) {
    const { service, owner, requestId, sent, param, text } = request;
    const endpointId = text('endpointId') || undefined;
    const event = { rideId: param('rideId'), seq: Number(param('seq')), endpointId };
    try {
      const attemptId = await redeliver(service, event, { ...owner, requestId, form: sent.id });
      return { redirectTo: entryPath(event.rideId, `attempt-${attemptId}`) };
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'not_found') throw error;
      return refused(error, `event-${event.seq}`);
    }
  },
});

/** The pages of a ride, below `/rides` and, for test rides, below `/console`. */
export const ridePageRoutes: readonly Page[] = [
  ...ridePages({ section: 'console', pathOf: consoleRidePath, forms: { step } }),
  ...ridePages({ section: 'rides', pathOf: ridePath, forms: { 'send-again': sendAgain } }),
];
