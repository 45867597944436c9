import { type Desk, readDesk } from '../../shared/accounts/desk.ts';
import { charge } from '../../shared/accounts/limit.ts';
import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { carTypes } from '../../shared/base/terms.ts';
import { listActiveKeys } from '../../shared/keys/list-keys.ts';
import { type Answer, type AskRequest, retryAfter, type SentRequest, type ShownRequest } from '../kit/answer.ts';
import { refusalWords } from '../kit/creation-refusals.ts';
import type { Again } from '../kit/form.ts';
import type { Faults } from '../kit/forms.tsx';
import { deskPath } from '../kit/paths.ts';
import {
  type BookingValues,
  bodyOf,
  fareFault,
  fieldFaults,
  inFormOrder,
  pickupTimeIn,
  valuesIn,
} from './booking-values.ts';
import { linkFault } from './coordinates.ts';
import { type DeskKey, readDeskKey } from './desk-key.tsx';
import { doubtAboutFare, type FareWords, fareWords } from './fare-words.ts';
import { hasGeocoder, searchAddresses } from './geocoder.ts';
import { pickupClocksHtml } from './pickup-clocks.tsx';
import { type Doubt, doubtsAbout, type End, placeIn, type TripPlace } from './trip-places.ts';

/** The contents of the booking form. */
export interface BookingState {
  values: BookingValues;
  faults?: Faults;
  doubts?: readonly Doubt[];
  /** Why the ride is not booked, if no field has a fault. */
  refusal?: string;
  hint?: FareWords;
  /** The id of the sent form, unless it has booked another ride: the form may be a retry whose first answer was lost. */
  formId?: string;
}

/** The desk of the request's account, and its key. */
export interface OpenDesk {
  desk: Desk;
  deskKey: DeskKey;
}

export async function openDesk({ account, owner }: Pick<ShownRequest, 'account' | 'owner'>): Promise<OpenDesk> {
  const desk = await readDesk(account._id);
  return { desk, deskKey: await readDeskKey(desk, owner) };
}

/**
 * Books a ride with the desk's key, like a request to the API, and shows the form again if anything is wrong or in
 * doubt. The form id is the Idempotency-Key: a repeated form returns the same ride.
 */
export async function bookRide(request: SentRequest, _: object, open: OpenDesk): Promise<Answer | Again> {
  const { service, owner, text, formId } = request;
  const { desk, deskKey } = open;
  const values = valuesIn(request);
  const again = async (status: number, state: Partial<BookingState>, headers = {}): Promise<Again> => {
    const hint = await hintFor(service, open, state.values ?? values);
    return { again: status, show: { state: { values, formId, hint, ...state } }, headers };
  };
  const booked = (rideId: string): Answer => ({ redirectTo: `${deskPath()}?booked=${rideId}` });
  // Before the check of the key: a form that has booked with another key must not book again.
  const otherKeys = [text('key'), ...(await listActiveKeys(owner)).map(({ _id }) => _id)].filter(
    (keyId) => deskKey.state !== 'active' || keyId !== deskKey.key._id,
  );
  const before = await request.findCreated(otherKeys);
  if (before) return booked(before);
  if (deskKey.state !== 'active') return again(422, {});
  // A page that was opened for test rides must not book a live one.
  if (text('key') !== deskKey.key._id) return again(409, { refusal: changedKey });

  const [from, to] = [
    placeIn(values.from, values.fromPoint, desk.places),
    placeIn(values.to, values.toPoint, desk.places),
  ];
  const asked = values.asked.split('|').filter(Boolean);
  const checked = from && to && doubtsAbout({ from, to }, desk.places, asked);
  const body = bodyOf(values, checked?.trip ?? { from: from ?? nowhere, to: to ?? nowhere });
  const faults: Faults = inFormOrder({
    ...fieldFaults(request.faultsOfRide(body)),
    ...(/\p{L}/u.test(values.phone) && { phone: 'Enter only the phone number. Write an extension into the notes' }),
    ...(fareFault(values.fare) && { fare: fareFault(values.fare) }),
    ...(!from && { from: placeFault(values.from, 'pickup') }),
    ...(!to && { to: placeFault(values.to, 'destination') }),
    ...(values.when !== 'later' && values.pickupTime && { pickupTime: 'Choose “Later”, or empty the pickup time' }),
    ...(pickupTimeIn(values) === null && { pickupTime: 'Choose the day and time of the pickup' }),
  });
  const doubts = [...(checked?.doubts ?? [])];
  if (checked && !faults.fare) {
    const hint = await hintOf(service, deskKey, { ...checked.trip, car: values.car });
    const doubt = doubtAboutFare(Number(body.fare), hint?.fare ?? '');
    if (doubt && !asked.includes(doubt.token)) doubts.push(doubt);
  }
  if (Object.keys(faults).length > 0 || doubts.length > 0) {
    return again(422, { faults, doubts, values: afterDoubts(values, asked, doubts) });
  }

  try {
    const { key } = deskKey;
    return booked((await request.createRide(key, body, key.mode === 'test' ? 'default' : undefined))._id);
  } catch (error) {
    if (error instanceof AppError && error.status === 503) return again(503, { refusal: unknownOutcome });
    const refusal = refusalWords(error);
    if (!refusal) throw error;
    const { code, status, headers } = refusal.error;
    if (code === 'invalid_request') return again(422, { faults: { pickupTime: refusal.words } }, headers);
    const isUsed = code === 'idempotency_conflict' || code === 'ride_erased';
    return again(status, { refusal: refusal.words, ...(isUsed && { formId: undefined }) }, headers);
  }
}

const changedKey =
  'The desk books with another key than before. See above whether its rides are live or test rides, and press “Book ride” again.';

const unknownOutcome =
  'The service does not answer at the moment. Press “Book ride” again in a few seconds: the ride is booked once at most.';

const nowhere: TripPlace = { lat: 0, lng: 0 };

const placeFault = (typed: string, what: string): string =>
  typed.trim()
    ? (linkFault(typed.trim()) ?? `Choose the ${what} from the list, or enter coordinates such as 40.758, -73.9855`)
    : `Choose the ${what}`;

/** The form after doubts: with the corrected places, and with the tokens by which the next form confirms them. */
function afterDoubts(values: BookingValues, asked: readonly string[], doubts: readonly Doubt[]): BookingValues {
  const corrected: Partial<Record<End, string>> = {};
  for (const { field, corrected: text } of doubts) {
    if (text !== undefined && field !== 'fare') corrected[field] = text;
  }
  return { ...values, ...corrected, asked: [...asked, ...doubts.map(({ token }) => token)].slice(-8).join('|') };
}

/** The fare hint for the places in the form; undefined while they are not known. */
async function hintFor(
  service: Context,
  { desk: { places }, deskKey }: OpenDesk,
  { from, fromPoint, to, toPoint, car }: Pick<BookingValues, 'from' | 'fromPoint' | 'to' | 'toPoint' | 'car'>,
): Promise<FareWords | undefined> {
  return hintOf(service, deskKey, { from: placeIn(from, fromPoint, places), to: placeIn(to, toPoint, places), car });
}

async function hintOf(
  { config, now }: Context,
  deskKey: DeskKey,
  { from, to, car }: Record<End, TripPlace | null> & Pick<BookingValues, 'car'>,
): Promise<FareWords | undefined> {
  if (!from || !to || deskKey.state === 'none') return undefined;
  const carType = carTypes.find((type) => type === car) ?? 'regular';
  return fareWords({ from, to, carType, mode: deskKey.key.mode }, { config, nowMs: now() });
}

/** Answers the form's script with the fare hint for its places and with the clocks of the pickup, each if known. */
export async function answerHint(request: AskRequest): Promise<Answer> {
  const open = await openDesk(request);
  const values = valuesIn(request);
  const clocks = pickupClocksHtml({ values, places: open.desk.places });
  return { json: { ...(await hintFor(request.service, open, values)), ...(clocks && { clocks }) } };
}

const searches = { name: 'address_search', most: 60, perMs: 60_000 };
const maxQuery = 200;

/** A slow geocoder has few connections, so one account must not use them all. */
const mostAtOnce = 2;
const running = new Map<string, number>();

const tooMany = (waitMs: number): Answer => ({
  status: 429,
  headers: retryAfter(waitMs),
  json: { problem: `Too many searches. Try again in ${Math.ceil(waitMs / 1_000)} s.` },
});

/**
 * Answers the form's script with addresses: at most 60 searches in 60 s for each member, and two at once for each
 * account in this process. Without a geocoder, 404; for a suspended account, 403.
 */
export async function answerSearch({ service, account, text }: AskRequest): Promise<Answer> {
  const query = text('q').trim().slice(0, maxQuery);
  if (!hasGeocoder(service.config)) throw new AppError('not_found');
  if (account.suspendedAt) throw new AppError('account_suspended');
  if (query === '') return { json: { results: [] } };
  const atOnce = running.get(account._id) ?? 0;
  if (atOnce >= mostAtOnce) return tooMany(1_000);
  running.set(account._id, atOnce + 1);
  try {
    const charged = await charge(searches, `${account._id}:${account.member.id}`, service.now());
    if (charged.isFull) return tooMany(charged.freesMs);
    const { defaultPlace, places } = await readDesk(account._id);
    const results = await searchAddresses(service, query, defaultPlace ?? places[0]);
    return {
      json: results
        ? { results }
        : { problem: 'The address search does not answer. Enter coordinates, or choose on the map.' },
    };
  } finally {
    const left = (running.get(account._id) ?? 1) - 1;
    if (left > 0) running.set(account._id, left);
    else running.delete(account._id);
  }
}
