import compose from 'koa-compose';
import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { batchedFind } from '../../shared/base/mongo/batch.ts';
import { committedReads } from '../../shared/base/mongo/durability.ts';
import type { Wake } from '../../shared/base/wake.ts';
import { trackUrl } from '../../shared/rides/events.ts';
import { withReportedPosition } from '../../shared/rides/read-ride.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { hasEnded } from '../../shared/rides/transitions.ts';
import { clientAddress, clientNetwork, redirectToHttps } from '../http/forwarded.ts';
import { isBelow, namesOf, type PageRoute, paramOf, routerOf } from '../http/route.ts';
import { pageHeaders } from '../http/security-headers.ts';
import { errorPage, pageError } from '../pages/error-page.tsx';
import type { Part, RequestContext } from '../part.ts';
import { followRides } from '../streams/followed-rides.ts';
import { createStreams } from '../streams/streams.ts';
import { trackPage } from './page.tsx';
import { type TrackedRide, type TrackState, trackFields, trackState } from './track-state.ts';

const base = '/track';
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

/** The public live map (contract, section 2.1): the page, its state as JSON, and the stream of states. */
export function trackPart(service: Context, wake: Wake): Part {
  const { config } = service;
  const streams = createStreams({ ...config.streams, client: 'network address' });
  const followed = followRides<TrackedRide, TrackState>(service, wake, {
    fields: trackFields,
    complete: withReportedPosition,
    stateOf: trackState,
    isLast: ({ status }) => hasEnded(status),
    // While the car moves, each new state has a new position.
    isAlwaysNews: ({ position }) => position !== undefined,
    pollMs: 2_000,
  });

  const get = (path: string, answer: (ctx: RequestContext, link: TrackLink) => void | Promise<void>): PageRoute => ({
    method: 'GET',
    path,
    handle: async (ctx) => answer(ctx, await findLink(ctx)),
  });
  const routes = [
    get('/:token', async (ctx, { ride, state }) => {
      const successor = ride.replacedBy ? await findById(ride.replacedBy) : null;
      const shown = successor?.trackToken ? successor : ride;
      if (shown.trackToken !== paramOf(ctx, 'token')) {
        ctx.redirect(trackUrl(config.trackBaseUrl, shown));
        return;
      }
      ctx.type = 'html';
      ctx.body = trackPage(state, config);
    }),
    get('/:token/state', (ctx, { state }) => {
      ctx.body = state;
    }),
    get('/:token/events', (ctx, { ride, state }) => {
      if (hasEnded(state.status)) ctx.status = 204;
      else {
        const client = clientNetwork(clientAddress(ctx, service));
        followed.follow(ride, state, () => streams.open(ctx, client));
      }
    }),
  ];

  const tileOrigin = config.tiles && new URL(config.tiles.url).origin;
  return {
    name: 'track',
    owns: isBelow(base),
    headers: new Map([...pageHeaders({ tileOrigin, referrer: 'strict-origin' }), ['Cache-Control', 'no-store']]),
    routes: () => namesOf(base, routes),
    handle: compose<RequestContext>([redirectToHttps(config), routerOf(base, routes)]),
    renderError: (error, ctx) => {
      if (error.code !== 'link_not_found') return pageError(error, ctx);
      ctx.response.type = 'html';
      return errorPage(error.status, { message: noSuchLink });
    },
    endHeld: streams.endAll,
    async close() {
      streams.close();
      followed.close();
    },
  };
}

interface TrackLink {
  ride: TrackedRide;
  state: TrackState;
}

/** Finds the ride of a link. Throws the same `link_not_found` for a malformed, unknown or expired token. */
async function findLink(ctx: RequestContext): Promise<TrackLink> {
  const [, token] = tokenForm.exec(paramOf(ctx, 'token')) ?? [];
  const found = token ? await findByToken(token) : null;
  const ride = found && (await withReportedPosition(found));
  const state = ride && trackState(ride);
  if (!ride || !state) throw new AppError('link_not_found');
  return { ride, state };
}
