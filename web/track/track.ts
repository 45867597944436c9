import { type Account, accounts } from '../../shared/accounts/account.ts';
import { charge, type Limit } from '../../shared/accounts/limit.ts';
import { helpFrom } from '../../shared/base/config.ts';
import type { Context } from '../../shared/base/context.ts';
import { AppError, limitReached } from '../../shared/base/errors.ts';
import { batchedFind } from '../../shared/base/mongo/batch.ts';
import { committedReads } from '../../shared/base/mongo/durability.ts';
import { longestComment } from '../../shared/base/terms.ts';
import { trackUrl } from '../../shared/rides/events.ts';
import { askHelp, rateRide } from '../../shared/rides/passenger-actions.ts';
import { withReportedPosition } from '../../shared/rides/read-ride.ts';
import { askIfOffRoute } from '../../shared/rides/reroute.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { hasEnded } from '../../shared/rides/transitions.ts';
import { type Answer, type FollowRide, type PublicRequest, retryAfter } from '../kit/answer.ts';
import { errorPage, pageError } from '../kit/error-page.tsx';
import { isLanguage, localeFor } from '../kit/languages.ts';
import type { PublicPages, PublicRoute } from '../kit/public-pages.ts';
import { liveMap } from './live-map.tsx';
import { mapLanguage } from './map-languages.ts';
import { type TrackedRide, type TrackState, trackFields, trackState } from './track-state.ts';

/** A token, and what messengers and readers add to a link: the full stop or the bracket after it, or a line break. */
const tokenForm = /^([0-9A-Za-z]{22})[^0-9A-Za-z]*$/;
const findById = batchedFind<Ride, Pick<Ride, '_id' | 'trackToken'>>(rides, '_id', { trackToken: 1 }, committedReads);
const linkFields = { ...trackFields, 'passenger.locale': 1 } as const;
const findByToken = batchedFind<Ride, LinkedRide>(rides, 'trackToken', linkFields, committedReads);

const findSupport = batchedFind<Account, Pick<Account, '_id' | 'supportPhone'>>(accounts, '_id', { supportPhone: 1 });

/** The limits of one network. They are high, because the passengers of a mobile network can share an address. */
const perNetwork = { most: 30, perMs: 60_000 };
const helpRequests: Limit = { name: 'help-requests', ...perNetwork };
const ratings: Limit = { name: 'ratings', ...perNetwork };

/** Every invalid link gets the same page, so that guessing tokens reveals nothing. */
function noSuchLink(status: number, request: PublicRequest): string {
  const { locale, text } = mapLanguage(localeFor(request));
  return errorPage(status, {
    message: { title: text('page.expired'), text: text('page.expired.text'), advice: text('page.expired.advice') },
    locale,
    hasLanguages: true,
  });
}

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
export function trackPages(service: Context, follow: FollowRide<TrackedRide, TrackState>): PublicPages {
  const { config } = service;
  const chargeNetwork = async (limit: Limit, what: string, request: PublicRequest) => {
    const charged = await charge(limit, request.client(), service.now());
    const words = `at most ${limit.most} ${what} in a minute for each network address`;
    if (charged.isFull) throw limitReached('rate_limited', words, retryAfter(charged.freesMs));
  };
  const redirectTo = (ride: Pick<Ride, 'trackToken'>, request: PublicRequest): Answer => ({
    redirectTo: trackUrl(config.trackBaseUrl, ride) + chosenIn(request),
    status: 302,
  });
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
      {
        method: 'GET',
        path: '/:token',
        async answer(request) {
          const found = await findRide(request);
          // Also once the link has expired: the new ride of a ride for later may be more than a day ahead.
          const successor = found.replacedBy ? await findById(found.replacedBy) : null;
          if (successor?.trackToken) return redirectTo(successor, request);
          const { ride, state } = await linkTo(found);
          if (ride.trackToken !== request.param('token')) return redirectTo(ride, request);
          const { supportPhone } = (await findSupport(ride.accountId)) ?? {};
          const language = mapLanguage(localeFor(request, ride.passenger?.locale));
          const ratingPath = `${pathOf(ride)}/rating${chosenIn(request)}`;
          const { tiles, help } = config;
          return { html: liveMap(state, { language, tiles, help, ...helpFrom(supportPhone), ratingPath }) };
        },
      },
      get('/:token/state', ({ state }) => ({ json: state })),
      get('/:token/events', ({ ride, state }) =>
        hasEnded(state.status) ? { empty: true } : { stream: (open) => follow(ride, state, open) },
      ),
      {
        method: 'POST',
        path: '/:token/help',
        async answer(request) {
          await chargeNetwork(helpRequests, 'requests for help', request);
          await askHelp(service, (await findLink(request)).ride);
          return { empty: true };
        },
      },
      {
        method: 'POST',
        path: '/:token/rating',
        async answer(request) {
          await chargeNetwork(ratings, 'ratings', request);
          const { ride } = await findLink(request);
          await rateRide(service, ride, ratingIn(await request.form()));
          return { redirectTo: pathOf(ride) + chosenIn(request) };
        },
      },
    ],
    renderError: (error, request) =>
      error.code === 'link_not_found'
        ? noSuchLink(error.status, request)
        : pageError(error, request, localeFor(request)),
  };
}

/** The part of an address that keeps the language that the reader chose. */
const chosenIn = ({ query }: PublicRequest): string => (isLanguage(query('lang')) ? `?lang=${query('lang')}` : '');

const pathOf = ({ trackToken = '' }: Pick<Ride, 'trackToken'>): string => `/track/${trackToken}`;

/** Throws `invalid_request` for a form that no browser sends. */
function ratingIn({ text }: { text(name: string): string }): { stars: number; comment?: string } {
  const stars = Number(text('stars'));
  const comment = text('comment').replaceAll('\r\n', '\n').trim();
  if (!/^[1-5]$/.test(text('stars')) || [...comment].length > longestComment) throw new AppError('invalid_request');
  return { stars, ...(comment && { comment }) };
}

type LinkedRide = TrackedRide & Pick<Ride, 'passenger'>;

interface TrackLink {
  ride: LinkedRide;
  state: TrackState;
}

/** Finds the ride of a link. Throws the same `link_not_found` for a malformed, unknown or expired token. */
const findLink = async (request: PublicRequest): Promise<TrackLink> => linkTo(await findRide(request));

/** Like `findLink`, but also finds the ride of an expired token. */
async function findRide({ param }: PublicRequest): Promise<LinkedRide> {
  const [, token] = tokenForm.exec(param('token')) ?? [];
  const found = token ? await findByToken(token) : null;
  if (!found) throw new AppError('link_not_found');
  return found;
}

async function linkTo(found: LinkedRide): Promise<TrackLink> {
  const ride = await withReportedPosition(found);
  const state = trackState(ride);
  if (!state) throw new AppError('link_not_found');
  return { ride, state };
}
