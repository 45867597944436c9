import { AppError } from '../../shared/base/errors.ts';
import { zoneAt } from '../../shared/base/place-zone.ts';
import { shownText } from '../../shared/base/shown-text.ts';
import { needs as allNeeds, type Need } from '../../shared/base/terms.ts';
import { labelledFields } from '../../shared/rides/fields.ts';
import { placeText } from '../../shared/rides/place-text.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { hasEnded } from '../../shared/rides/transitions.ts';
import type { Document, SentRequest } from '../kit/answer.ts';
import { ButtonLink } from '../kit/blocks.tsx';
import { choice, type Field, fault, hidden, text } from '../kit/declared-fields.tsx';
import { DeclaredForm } from '../kit/declared-form.tsx';
import { form } from '../kit/form.ts';
import { ChoiceField, type Faults } from '../kit/forms.tsx';
import { timeIn } from '../kit/lists.tsx';
import { MapDialog } from '../kit/map-dialog.tsx';
import { page } from '../kit/page.tsx';
import { languageOptions } from '../kit/passenger-fields.tsx';
import { deskPath } from '../kit/paths.ts';
import { ownRide, rideName } from '../kit/ride-parts.tsx';
import { labelledTexts, labelledValues } from '../kit/ride-request.ts';
import { bookers } from '../kit/roles.ts';
import { offsetMs, timeOfClock } from '../kit/zone.ts';
import { NeedsField, seats } from './booking-form.tsx';
import { needField, textOf } from './booking-values.ts';
import type { hasGeocoder } from './geocoder.ts';
import { placeSearch, position } from './place-field.tsx';
import { chosenAs } from './trip-places.ts';

const typed = (label: string, most = 200) => text(label, (value) => value.trim(), { maxLength: most });

/** What the car must serve. `initial` has the names of needs, separated by spaces. */
const needs: Field<Need[]> = {
  parse: (_, _service, other) => allNeeds.filter((need) => other(needField(need)) === 'yes'),
  draw: ({ initial = '', other }) => (
    <div class="booking-more">
      <NeedsField
        legend={<legend>Needs</legend>}
        isChosen={(need) => other(needField(need)) === 'yes' || initial.split(' ').includes(need)}
      />
    </div>
  ),
};

/** The language of the passenger (BCP 47), or empty. */
const language: Field<string> = {
  parse: (tag) => tag.trim(),
  draw: ({ typed, initial = '', other: _, ...at }) => (
    <ChoiceField {...at} label="Passenger’s language" options={languageOptions(initial)} value={typed ?? initial} />
  ),
};

/** A clock time at the pickup, as if it were in UTC; undefined for a ride for now. */
const pickupClock: Field<Date | undefined> = text(
  'Pickup time',
  (value) =>
    value.trim() ? (timeIn(value.trim(), 'start') ?? fault('Choose the day and time of the pickup')) : undefined,
  { type: 'datetime-local', hint: 'On the clocks at the pickup. Empty: the time stays.' },
);

/** `shown` has the texts of the form as it was shown (`shownAs`). */
const tripFields = {
  shown: hidden,
  at: position('To'),
  pickupTime: pickupClock,
  passengers: choice('Seats', seats, 'Choose 1 to 7 seats'),
  needs,
};
const detailFields = {
  shown: hidden,
  passenger: typed('Passenger'),
  phone: typed('Phone', 40),
  language,
  notes: typed('Notes'),
  reference: typed('Reference', 64),
  ...(Object.fromEntries(labelledFields.map(({ name, label }) => [name, typed(label)])) as Record<
    string,
    Field<string>
  >),
};

/** The fields of the forms by the path in the request. */
const fieldsOfPaths: Record<string, string> = {
  'passenger.name': 'passenger',
  'passenger.phone': 'phone',
  'passenger.locale': 'language',
  'destination.address': 'at',
  passengerCount: 'passengers',
  pickupAt: 'pickupTime',
};

/** Changes the ride, and leads back to the desk. Shows the form again with its faults, or with the reason of a refusal. */
async function change(request: SentRequest, ride: Ride, body: object, of: string) {
  try {
    const found = await request.changeRide(ride, body);
    const faults: Faults = Object.fromEntries(
      Object.entries(found).map(([path, words]) => [fieldsOfPaths[path] ?? path, `This ${words}`]),
    );
    return Object.keys(faults).length > 0 ? { again: 422, faults } : { redirectTo: deskPath() };
  } catch (error) {
    if (!(error instanceof AppError) || ![400, 409].includes(error.status)) throw error;
    const path = error.headers['X-Service-Error-Field'] ?? '';
    const faults = { [fieldsOfPaths[path] ?? of]: `${error.message}.` };
    return { again: error.status === 400 ? 422 : 409, faults, code: error.code };
  }
}

/** The page that changes what a ride asks for (contract, section 10.14). */
export const rideChanges = page('/desk/rides/:rideId/change', {
  section: 'desk',
  roles: bookers,
  find: ownRide,
  leave: ({ status }) => hasEnded(status) && deskPath(),
  read: ({ service }, ride) => ({ ride, config: service.config, now: service.now() }),
  view: changesView,
  forms: {
    trip: form<typeof tripFields, Ride>({
      path: '/desk/rides/:rideId/change/trip',
      fields: tripFields,
      act(request, { shown, at, pickupTime, passengers, needs }, ride) {
        const { lat, lng, address } = at;
        const isTyped = typedInto(request, shown);
        const body = {
          ...(isTyped('at', 'atPoint') && { destination: { lat, lng, ...(address && { address }) } }),
          ...(isTyped('passengers') && { passengerCount: Number(passengers) }),
          ...(isTyped('needs') && { needs }),
          ...(pickupTime &&
            isTyped('pickupTime') && { pickupAt: timeOfClock(pickupTime, zoneAt(ride.pickup)).getTime() }),
        };
        return change(request, ride, body, 'at');
      },
    }),
    details: form<typeof detailFields, Ride>({
      path: '/desk/rides/:rideId/change/details',
      fields: detailFields,
      act(request, { shown, passenger: name, phone, language: locale, notes, reference }, ride) {
        const isTyped = typedInto(request, shown);
        const labelled = Object.entries(labelledValues((field) => request.text(field)));
        const passenger = Object.entries({
          name: isTyped('passenger') ? name : ride.passenger?.name,
          phone: isTyped('phone') ? phone : ride.passenger?.phone,
          locale: isTyped('language') ? locale : ride.passenger?.locale,
        });
        const body = {
          ...(isTyped('passenger', 'phone', 'language') && {
            passenger: Object.fromEntries(passenger.filter(([, value]) => value)),
          }),
          ...(isTyped('notes') && { notes }),
          ...(isTyped('reference') && { reference }),
          ...Object.fromEntries(labelled.filter(([name]) => isTyped(name))),
        };
        return change(request, ride, body, 'passenger');
      },
    }),
  },
});

/** A time as the field shows it, on the clocks at the pickup: `2026-11-24T21:30`. */
const clockAtPickup = (at: Date, { pickup }: Ride): string =>
  new Date(at.getTime() + offsetMs(at, zoneAt(pickup))).toISOString().slice(0, 16);

/** What the forms show of a ride: the clock has no seconds, and a field of one line has no line breaks. */
const tripTexts = (ride: Ride) => ({
  at: textOf(ride.destination),
  atPoint: chosenAs(ride.destination, textOf(ride.destination)),
  pickupTime: ride.pickupAt && clockAtPickup(ride.pickupAt, ride),
  passengers: String(ride.passengerCount),
  needs: (ride.needs ?? []).join(' '),
});
const detailTexts = (ride: Ride) => ({
  passenger: shownText(ride.passenger?.name ?? ''),
  phone: shownText(ride.passenger?.phone ?? ''),
  language: ride.passenger?.locale,
  notes: shownText(ride.notes ?? ''),
  reference: shownText(ride.reference ?? ''),
  ...labelledTexts(ride),
});

/** The texts of a form with a field that keeps them until the form is sent. */
const shownAs = (texts: Readonly<Record<string, string | undefined>>) => ({ ...texts, shown: JSON.stringify(texts) });

/**
 * Whether somebody has typed into one of these fields of a form. The ride keeps exactly what nobody has typed into, also
 * if it was changed after the form was shown.
 */
function typedInto({ text }: SentRequest, shown: string): (...names: string[]) => boolean {
  const before = textsIn(shown);
  const needs = allNeeds.filter((need) => text(needField(need)) === 'yes').join(' ');
  return (...names) => names.some((name) => (name === 'needs' ? needs : text(name)) !== (before[name] ?? ''));
}

function textsIn(shown: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(shown));
  } catch {
    return {};
  }
}

type Shown = { ride: Ride; config: Parameters<typeof hasGeocoder>[0] & Parameters<typeof MapDialog>[0] };

function changesView({ ride, config }: Shown): Document {
  return {
    title: `Change the ride: ${rideName(ride)}`,
    test: ride.mode === 'test',
    lead: <p>From {placeText(ride.pickup)}. The driver sees every change at once.</p>,
    actions: <ButtonLink to={deskPath()}>Back to the desk</ButtonLink>,
    scripts: ['booking.browser.js'],
    children: (
      <div class="columns desk">
        <section class="stack" aria-labelledby="details-title">
          <h2 id="details-title">Passenger and notes</h2>
          <DeclaredForm name="details" class="booking" values={shownAs(detailTexts(ride))} button="Save" />
        </section>
        {ride.status === 'bidding' && (
          <section class="stack" aria-labelledby="trip-title" {...placeSearch(config)}>
            <h2 id="trip-title">Trip</h2>
            <DeclaredForm name="trip" class="booking" values={shownAs(tripTexts(ride))} button="Save trip">
              <p class="hint">Offers of drivers whose cars no longer fit are withdrawn.</p>
            </DeclaredForm>
            <MapDialog {...config} />
          </section>
        )}
      </div>
    ),
  };
}
