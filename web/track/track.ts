import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { batchedFind } from '../../shared/base/mongo/batch.ts';
import { committedReads } from '../../shared/base/mongo/durability.ts';
import { trackUrl } from '../../shared/rides/events.ts';
import { withReportedPosition } from '../../shared/rides/read-ride.ts';
import { askIfOffRoute } from '../../shared/rides/reroute.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { hasEnded } from '../../shared/rides/transitions.ts';
import type { Answer, FollowRide, PublicRequest } from '../kit/answer.ts';
import { errorPage, pageError } from '../kit/error-page.tsx';
import type { PublicPages, PublicRoute } from '../kit/public-pages.ts';
import { liveMap } from './live-map.tsx';
import { type TrackedRide, type TrackState, trackFields, trackState } from './track-state.ts';

/** A token, and what messengers and readers add to a link: the full stop or the bracket after it, or a line break. */
const tokenForm = /^([0-9A-Za-z]{22})[^0-9A-Za-z]*$/;
const findById = batchedFind<Ride, Pick<Ride, '_id' | 'trackToken'>>(rides, '_id', { trackToken: 1 }, committedReads);
const findByToken = batchedFind<Ride, TrackedRide>(rides, 'trackToken', trackFields, committedReads);

/** Every invalid link gets the same text, so that guessing tokens reveals nothing. */
const noSuchLink = {
  title: 'This link is no longer valid',
  text: 'A live map is available until 24 hours after its ride has ended.',
  advice: 'Check that you copied the whole link, or ask the sender for a new one.',
};

/** How the streams read and show a ride. */
export const trackView = {
  fields: trackFields,
  async complete(ride: TrackedRide, service: Context): Promise<TrackedRide> {
    const located = await withReportedPosition(ride);
    void askIfOffRoute(service, located);
    return located;
  },
  stateOf: trackState,
  isLast: ({ status }: TrackState) => hasEnded(status),
  // While the car moves, each new state has a new position.
  isAlwaysNews: ({ position }: TrackState) => position !== undefined,
  pollMs: 2_000,
};

/** The public live map (contract, section 2.1): the page, its state as JSON, and the stream of states. */
export function trackPages(
  { config }: Pick<Context, 'config'>,
  follow: FollowRide<TrackedRide, TrackState>,
): PublicPages {
  const get = (
    path: string,
    answer: (link: TrackLink, request: PublicRequest) => Answer | Promise<Answer>,
  ): PublicRoute => ({
    method: 'GET',
    path,
    answer: async (request) => answer(await findLink(request), request),
  });
  return {
    name: 'track',
    base: '/track',
    security: { tiles: config.tiles, referrer: 'strict-origin' },
    headers: { 'Cache-Control': 'no-store' },
    hasStreams: true,
    routes: [
      get('/:token', async ({ ride, state }, { param }) => {
        const successor = ride.replacedBy ? await findById(ride.replacedBy) : null;
        const shown = successor?.trackToken ? successor : ride;
        if (shown.trackToken === param('token')) return { html: liveMap(state, config) };
        return { redirectTo: trackUrl(config.trackBaseUrl, shown), status: 302 };
      }),
      get('/:token/state', ({ state }) => ({ json: state })),
      get('/:token/events', ({ ride, state }) =>
        hasEnded(state.status) ? { empty: true } : { stream: (open) => follow(ride, state, open) },
      ),
    ],
    renderError: (error, request) =>
      error.code === 'link_not_found' ? errorPage(error.status, { message: noSuchLink }) : pageError(error, request),
  };
}

interface TrackLink {
  ride: TrackedRide;
  state: TrackState;
}

/** Finds the ride of a link. Throws the same `link_not_found` for a malformed, unknown or expired token. */
async function findLink({ param }: PublicRequest): Promise<TrackLink> {
  const [, token] = tokenForm.exec(param('token')) ?? [];
  const found = token ? await findByToken(token) : null;
  const ride = found && (await withReportedPosition(found));
  const state = ride && trackState(ride);
  if (!ride || !state) throw new AppError('link_not_found');
  return { ride, state };
}
