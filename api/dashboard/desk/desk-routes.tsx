import type { Context } from '../../../shared/base/context.ts';
import { AppError } from '../../../shared/base/errors.ts';
import { rideOf } from '../../../shared/rides/list-rides.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { chooseOnlyKey, type DeskKey, KeyNotice } from '../../../web/desk/desk-key.tsx';
import { chosenAsSaved } from '../../../web/desk/trip-places.ts';
import { ModePill, placeText, Time } from '../../../web/kit/facts.tsx';
import { deskPlacesPath, deskSettingsPath, ridePath } from '../../../web/kit/paths.ts';
import { rideName } from '../../../web/kit/ride-parts.tsx';
import { IfMay } from '../../../web/kit/viewer.tsx';
import type { RideCreation } from '../../rides/creation.ts';
import { dashboardPage, PageHead } from '../frame.tsx';
import { type DashboardRoute, type PageRequest, signedInRoutes } from '../page-routes.ts';
import { Board, boardScript, wallPage } from './board.tsx';
import { findRides } from './board-find.tsx';
import { readDesk } from './board-routes.tsx';
import { answerHint, answerSearch, type BookingState, bookRide, type OpenDesk, openDesk } from './booking.ts';
import { BookingForm } from './booking-form.tsx';
import { canKeepTime, emptyValues, repeats, timeOfRide, valuesOfRide } from './booking-values.ts';
import type { Boards } from './desk-streams.ts';

/** The rides that the form of the desk is about. */
interface ShownRides {
  /** The ride that was just booked. */
  booked?: Ride | null;
  /** The ride that the form repeats. */
  earlier?: Ride;
  /** The clock time that the pickup keeps in the reader's zone. */
  clockOf?: Date;
  /** The pickup of `earlier` is ahead, but too near to be booked again. */
  isTooNear?: boolean;
}

/** The desk: the form that books a ride, and the board of the account's rides. */
export function deskRoutes(service: Context, creation: RideCreation, boards: Boards): DashboardRoute[] {
  const { config } = service;
  const { page, action, ask } = signedInRoutes(service);

  /** Shows the desk. */
  async function showDesk(
    request: PageRequest,
    { desk, deskKey }: OpenDesk,
    state: BookingState,
    { earlier, booked, clockOf, isTooNear }: ShownRides = {},
  ): Promise<string> {
    const isTest = deskKey.state !== 'none' && deskKey.key.mode === 'test';
    const isSentForm = request.ctx.method === 'POST';
    const { ctx, account, owner, query } = request;
    const [view, found] = await Promise.all([
      readDesk(service, boards, account),
      findRides(query('find'), isTest ? 'test' : 'live', owner),
    ]);
    if ('wall' in ctx.query) return wallPage(view, { isTest });
    return dashboardPage({
      title: 'Desk',
      account,
      section: 'desk',
      test: isTest,
      hasErrors: isSentForm,
      scripts: ['booking-page.js', boardScript],
      children: (
        <>
          <DeskHead deskKey={deskKey} />
          <nav class="desk-tabs" aria-label="Parts of the desk">
            <a href="#new-ride">Book</a>
            <a href="#rides">Rides</a>
          </nav>
          <div class="desk">
            <section class="desk-book" id="new-ride" aria-label="New ride">
              {booked && <Booked ride={booked} />}
              {earlier && <Earlier ride={earlier} isTooNear={isTooNear} />}
              <KeyNotice deskKey={deskKey} />
              {(deskKey.state === 'active' || isSentForm) && (
                <BookingForm
                  keyId={desk.keyId}
                  {...{ config, desk, clockOf }}
                  {...state}
                  about={booked ? 'booked' : undefined}
                />
              )}
            </section>
            <section class="desk-board" id="rides" aria-label="Rides">
              <Board view={view} found={found} />
            </section>
          </div>
        </>
      ),
    });
  }

  /** The ride that the query names: the one that was just booked, or one of the account's rides to book again. */
  async function showNewRide(given: PageRequest): Promise<string> {
    const { owner, query } = given;
    const deskKeyId = given.account.deskKeyId ?? (await chooseOnlyKey(owner));
    const request = { ...given, account: { ...given.account, deskKeyId } };
    const [open, booked] = await Promise.all([
      openDesk(request),
      query('booked') ? rideOf(query('booked'), owner) : null,
    ]);
    const how = repeats.find((name) => query(name));
    if (how) {
      const earlier = await rideOf(query(how), owner);
      if (!earlier) throw new AppError('not_found');
      const now = new Date(service.now());
      const values = earlier.erasedAt ? emptyValues : valuesOfRide(earlier, how, now);
      const clockOf = how === 'tomorrow' ? timeOfRide(earlier) : undefined;
      const isTooNear = how === 'repeat' && timeOfRide(earlier) > now && !canKeepTime(earlier, now);
      return showDesk(request, open, { values }, { earlier, clockOf, isTooNear });
    }
    const { defaultPlace } = open.desk;
    const from = defaultPlace && { from: defaultPlace.name, fromPoint: chosenAsSaved(defaultPlace) };
    return showDesk(request, open, { values: { ...emptyValues, ...from } }, { booked });
  }

  return [
    page('/desk', showNewRide),
    action('/desk', bookRide(service, creation, showDesk)),
    ask('/desk/hint', answerHint(service)),
    ask('/desk/search', answerSearch(service)),
  ];
}

/** The title, with the mode in which the desk books. Test data is marked by the band of the page. */
function DeskHead({ deskKey }: { deskKey: DeskKey }) {
  return (
    <PageHead
      title="Desk"
      actions={
        <>
          <a class="btn second" href={deskPlacesPath}>
            Saved places
          </a>
          <IfMay route="GET /desk/settings">
            <a class="btn second" href={deskSettingsPath}>
              Desk settings
            </a>
          </IfMay>
        </>
      }
    >
      {deskKey.state === 'active' && (
        <p class="title-row">
          <ModePill mode={deskKey.key.mode} />
          {deskKey.key.mode === 'live' ? 'Live rides' : 'Test rides: no real driver sees them'}
        </p>
      )}
    </PageHead>
  );
}

/** Names the ride that was just booked. */
function Booked({ ride }: { ride: Ride }) {
  const { pickup, destination, pickupAt } = ride;
  return (
    <p class="notice good desk-booked" id="booked" role="status">
      <span>
        Booked: <a href={ridePath(ride._id)}>{rideName(ride)}</a>, {placeText(pickup)} to {placeText(destination)},{' '}
        {pickupAt ? <Time at={pickupAt} /> : 'now'}.
      </span>
    </p>
  );
}

/** Says from which ride the form is filled in. */
function Earlier({ ride, isTooNear }: { ride: Ride; isTooNear?: boolean }) {
  return (
    <p class="notice">
      <span>
        {ride.erasedAt ? (
          <>
            The personal data of <a href={ridePath(ride._id)}>this ride</a> is erased, so it cannot be repeated.
          </>
        ) : (
          <>
            Filled in from the ride <a href={ridePath(ride._id)}>{rideName(ride)}</a>. It is booked when you press “Book
            ride”.
            {isTooNear && (
              <>
                {' '}
                Its pickup time, <Time at={timeOfRide(ride)} />, is less than 15 minutes ahead, so the form books for
                now.
              </>
            )}
          </>
        )}
      </span>
    </p>
  );
}
