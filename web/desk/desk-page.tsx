import { AppError } from '../../shared/base/errors.ts';
import { rideOf } from '../../shared/rides/list-rides.ts';
import { placeText } from '../../shared/rides/place-text.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import type { Document, ShownRequest } from '../kit/answer.ts';
import { ButtonLink } from '../kit/blocks.tsx';
import { Time } from '../kit/facts.tsx';
import { form } from '../kit/form.ts';
import { page } from '../kit/page.tsx';
import { deskPlacesPath, deskSettingsPath, ridePath } from '../kit/paths.ts';
import { rideName } from '../kit/ride-parts.tsx';
import { bookers } from '../kit/roles.ts';
import { IfMay } from '../kit/viewer.tsx';
import { Board, boardScript, findRides, wallPage } from './board.tsx';
import { boardOf, boardOfKey, stateOf } from './board-view.tsx';
import { answerHint, answerSearch, type BookingState, bookRide, type OpenDesk, openDesk } from './booking.ts';
import { BookingForm } from './booking-form.tsx';
import { canKeepTime, emptyValues, repeats, timeOfRide, valuesOfRide } from './booking-values.ts';
import { chooseOnlyKey, KeyNotice } from './desk-key.tsx';
import { chosenAsSaved } from './trip-places.ts';

/** The desk: the form that books a ride, and the board of the account's rides. */
export const desk = page('/desk', {
  section: 'desk',
  entry: 'Desk',
  roles: bookers,
  async find(request) {
    // The account of the request is as it was before the choice.
    if (!isSent(request)) request.account.deskKeyId ??= await chooseOnlyKey(request.owner);
    return openDesk(request);
  },
  read: readDesk,
  view: deskView,
  state: async (request) => stateOf(await boardOf(request), request.has('rows') ? 'all' : undefined),
  stream: async (request) => request.followKey(boardOfKey, request.account.deskKeyId, await boardOf(request)),
  asks: { hint: answerHint, search: answerSearch },
  forms: { book: form({ path: '/desk', act: bookRide }) },
});

const isSent = (request: ShownRequest): boolean => request.formId !== undefined;

/** Reads the desk, with the form as it begins, and with the rides that it is about. */
async function readDesk(request: ShownRequest, { desk, deskKey }: OpenDesk) {
  const { owner, query, service } = request;
  const isTest = deskKey.state !== 'none' && deskKey.key.mode === 'test';
  const how = repeats.find((name) => query(name));
  const [board, found, earlier, booked] = await Promise.all([
    boardOf(request),
    findRides(query('find'), isTest ? 'test' : 'live', owner),
    how && rideOf(query(how), owner),
    query('booked') && !how ? rideOf(query('booked'), owner) : null,
  ]);
  const state: BookingState = { values: emptyValues };
  const shown = { ...{ config: service.config, desk, deskKey, isTest, board, found, booked, state } };
  const more = { isWall: request.has('wall'), isSent: isSent(request) };
  if (how) {
    if (!earlier) throw new AppError('not_found');
    const now = new Date(service.now());
    if (!earlier.erasedAt) state.values = valuesOfRide(earlier, how, now);
    const clockOf = how === 'tomorrow' ? timeOfRide(earlier) : undefined;
    const isTooNear = how === 'repeat' && timeOfRide(earlier) > now && !canKeepTime(earlier, now);
    return { ...shown, ...more, earlier, clockOf, isTooNear };
  }
  const { defaultPlace: from } = desk;
  if (from) state.values = { ...emptyValues, from: from.name, fromPoint: chosenAsSaved(from) };
  return { ...shown, ...more };
}

type DeskData = Awaited<ReturnType<typeof readDesk>> & { earlier?: Ride; clockOf?: Date; isTooNear?: boolean };

function deskView(data: DeskData): Document {
  const { config, desk, deskKey, isTest, board, found, booked, state, isSent, earlier, clockOf, isTooNear } = data;
  if (data.isWall) return wallPage(board, isTest);
  return {
    title: 'Desk',
    test: isTest,
    hasErrors: isSent,
    scripts: ['booking.browser.js', boardScript],
    // Test data is marked by the band of the page.
    lead: deskKey.state === 'active' && (
      <p class="row">
        {isTest ? 'Test rides: no real driver sees them' : 'Live rides: real drivers see every booking'}
      </p>
    ),
    actions: (
      <>
        <ButtonLink to={deskPlacesPath}>Saved places</ButtonLink>
        <IfMay route="GET /desk/settings">
          <ButtonLink to={deskSettingsPath}>Desk settings</ButtonLink>
        </IfMay>
      </>
    ),
    children: (
      <>
        <nav class="desk-tabs" aria-label="Parts of the desk">
          <a href="#new-ride">Book</a>
          <a href="#rides">Rides</a>
        </nav>
        <div class="columns desk">
          <section class="stack" id="new-ride" aria-label="New ride">
            {booked && <Booked ride={booked} />}
            {earlier && <Earlier ride={earlier} isTooNear={isTooNear} />}
            <KeyNotice deskKey={deskKey} />
            {(deskKey.state === 'active' || isSent) && (
              <BookingForm
                keyId={desk.keyId}
                {...{ config, desk, clockOf }}
                {...state}
                about={booked ? 'booked' : undefined}
              />
            )}
          </section>
          <section id="rides" aria-label="Rides">
            <Board view={board} found={found} />
          </section>
        </div>
      </>
    ),
  };
}

/** Names the ride that was just booked. */
function Booked({ ride }: { ride: Ride }) {
  const { pickup, destination, pickupAt } = ride;
  return (
    <p class="notice good" id="booked" role="status">
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
