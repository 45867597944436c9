import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { newRideSchema } from '../../api/rides/new-ride.ts';
import { eraseRide } from '../../shared/retention/erase-rides.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { ridesOfDriver } from '../../shared/rides/driver/driver-rides.ts';
import { presentOwnRide } from '../../shared/rides/driver/own-ride.ts';
import { labelledFields } from '../../shared/rides/fields.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Location, Ride, RideRequest, RideStatus } from '../../shared/rides/ride-types.ts';
import { bodyOf, valuesOfRide } from '../../web/desk/booking-values.ts';
import { driveLanguage } from '../../web/drive/drive-languages.ts';
import { driveWords } from '../../web/drive/drive-words.ts';
import { requestBody } from '../../web/kit/ride-request.ts';
import { chargesOf } from '../support/charges.ts';
import { offerOn, rideIn } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';
import { storedRide } from '../support/stored-rides.ts';

interface Treatment {
  example: unknown;
  /** True if erasure removes the field. A place only loses its address and its exact coordinates. */
  erased: boolean;
  /** True if the driver who was chosen sees the field. */
  driver: boolean;
  /** True if the desk's form for the same ride again has the field. */
  desk: boolean;
  /** Where the partner sees the field: in the answer to the creation, in the ride, or in each event. */
  shown: readonly ('creation' | 'ride' | 'event')[];
}

const pickup: Location = { lat: 40.7128, lng: -74.006, address: 'Ward 7' };
const destination: Location = { lat: 40.758, lng: -73.9855, address: 'Main entrance' };
/** On a full minute, because the desk's form has no seconds. */
const pickupAt = new Date(Math.ceil(Date.now() / 60_000) * 60_000 + 3 * 3_600_000);

/**
 * One row for each field of a request: whether erasure removes it, and who sees it. The tests below check each column,
 * and fail for a new field without a row.
 */
const treatments = {
  pickup: { example: pickup, erased: true, driver: true, desk: true, shown: ['ride'] },
  destination: { example: destination, erased: true, driver: true, desk: true, shown: ['ride'] },
  fare: { example: 31.5, erased: false, driver: true, desk: true, shown: ['creation', 'ride', 'event'] },
  carType: { example: 'family', erased: false, driver: true, desk: true, shown: ['creation', 'ride'] },
  rideType: { example: 'intercity', erased: false, driver: true, desk: true, shown: [] },
  passengerCount: { example: 3, erased: false, driver: true, desk: true, shown: ['ride'] },
  // The desk's form has no distance: the service computes it.
  distanceKm: { example: 7.54321, erased: false, driver: true, desk: false, shown: ['creation', 'ride'] },
  notes: { example: 'Ring twice', erased: true, driver: true, desk: true, shown: [] },
  passenger: {
    example: { name: 'Ada Lovelace', phone: '+12025550111', locale: 'es' },
    erased: true,
    driver: true,
    desk: true,
    shown: [],
  },
  needs: { example: ['pet'], erased: true, driver: true, desk: true, shown: ['creation', 'ride'] },
  floor: { example: 7, erased: true, driver: true, desk: true, shown: ['creation', 'ride'] },
  // The partner sees the digits instead.
  pin: { example: true, erased: false, driver: true, desk: true, shown: [] },
  pickupAt: { example: pickupAt, erased: false, driver: true, desk: true, shown: ['creation', 'ride', 'event'] },
  reference: { example: 'booking-4711', erased: true, driver: false, desk: true, shown: ['creation', 'ride', 'event'] },
  onDriverCancel: { example: 'rebid', erased: false, driver: false, desk: true, shown: ['creation', 'ride'] },
  notify: {
    example: { passenger: true, contacts: [{ phone: '+12025550144' }] },
    erased: true,
    driver: false,
    desk: true,
    shown: [],
  },
  // Only programs set these.
  metadata: {
    example: { bed: 'bed 12' },
    erased: true,
    driver: false,
    desk: false,
    shown: ['creation', 'ride', 'event'],
  },
  webhookUrl: { example: 'https://partner.example/hook', erased: true, driver: false, desk: false, shown: [] },
  autoAccept: {
    example: { maxPrice: 40, waitSeconds: 20 },
    erased: false,
    driver: false,
    desk: false,
    shown: ['creation', 'ride'],
  },
} satisfies Record<keyof RideRequest, Treatment>;

const fields = Object.entries(treatments) as [keyof RideRequest, Treatment][];
const request = Object.fromEntries(fields.map(([field, { example }]) => [field, example])) as unknown as RideRequest;
const asNumber = (value: unknown) => (value instanceof Date ? value.getTime() : value);

/** The request as a partner sends it. */
const sent = Object.fromEntries(fields.map(([field, { example }]) => [field, asNumber(example)]));
const required = { pickup, destination, fare: 31.5 };

describe('each field of a request', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'live');

  /** A live ride with every field. Resolves with it and its chosen driver. */
  async function fullRide(status: RideStatus) {
    const { rideId, offer } = await rideIn(api.ctx, status);
    await rides.updateOne({ _id: rideId }, { $set: { ...request, unsettled: 0 } });
    return { ride: await storedRide(rideId), driverId: offer.driver.driverId };
  }

  it('a creation stores each field of a request, and exactly the decided answers and events show it', async () => {
    const { body: creation } = await partner.createRide(sent);
    const { rideId } = creation;
    await applyAction(api.ctx, rideId, { action: 'open' }, 'anyone');
    const { offerId } = await offerOn(api.ctx, rideId);
    await applyAction(api.ctx, rideId, { action: 'accept', offerId }, 'anyone');
    const ride = await storedRide(rideId);
    const [event, ...others] = ride.events.map(({ body }) => JSON.parse(body));
    expect(others).to.have.length(1);
    const seen = { creation, ride: (await partner.get(`/rides/${rideId}`)).body, event };
    for (const [field, { example, shown }] of fields) {
      expect(ride[field], field).to.deep.equal(example);
      if (field === 'pin') continue;
      for (const place of ['creation', 'ride', 'event'] as const) {
        expect(seen[place][field], `${field} in the ${place}`).to.deep.equal(
          shown.includes(place) ? sent[field] : undefined,
        );
      }
      for (const other of others) expect(other[field], field).to.deep.equal(event[field]);
    }
  });

  it('a field that is absent, null or empty has its default, or is neither stored nor shown', async () => {
    const defaults = { carType: 'regular', rideType: 'standard', passengerCount: 1, distanceKm: 5.31 };
    const optional = fields.map(([field]) => field).filter((field) => !(field in required));
    const nulls = Object.fromEntries(optional.map((field) => [field, null]));
    for (const none of [{}, nulls, { reference: '', needs: [] }]) {
      const { status, body } = await partner.createRide({ ...required, ...none });
      expect(status).to.equal(201);
      const ride = await storedRide(body.rideId);
      expect(ride).to.include(defaults);
      const others = [...optional.filter((field) => !(field in defaults)), 'biddingOpensAt', 'scenario', 'idempotency'];
      for (const shown of [ride, body, (await partner.get(`/rides/${body.rideId}`)).body]) {
        expect(shown).not.to.have.any.keys(...others);
      }
    }
  });

  it('a repeat of a creation with another value of any field, or without it, answers 409', async () => {
    const under = { 'idempotency-key': 'a' };
    const first = await partner.createRide(sent, under);
    expect((await partner.createRide(sent, under)).text).to.equal(first.text);
    const others: Partial<Record<string, unknown>> = {
      pickup: destination,
      destination: pickup,
      fare: 32,
      passenger: { phone: '+12025550112' },
      autoAccept: { maxPrice: 40, waitSeconds: 5 },
    };
    for (const [field] of fields) {
      expect((await partner.createRide({ ...sent, [field]: others[field] }, under)).status, field).to.equal(409);
    }
    expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(1);
    expect(await chargesOf(api.ctx, partner.keyId)).to.equal(1);
  });

  it('erasure removes or keeps each field of a request as decided', async () => {
    const { ride } = await fullRide('completed');
    await eraseRide(ride._id);
    const erased = await storedRide(ride._id);
    expect(erased.erasedAt).to.be.a('date');
    const places: Partial<Ride> = { pickup: { lat: 40.71, lng: -74.01 }, destination: { lat: 40.76, lng: -73.99 } };
    for (const [field, treatment] of fields) {
      const left = treatment.erased ? places[field] : ride[field];
      expect(erased[field], field).to.deep.equal(left);
    }
  });

  it('the chosen driver sees exactly the decided fields of a request', async () => {
    const { driverId } = await fullRide('driver_arriving');
    const { ride: shown } = presentOwnRide(await ridesOfDriver(() => api.ctx.now())(driverId));
    for (const [field, { driver, example }] of fields) {
      const value = (shown as Partial<Record<typeof field, unknown>> | null)?.[field];
      // The driver also gets the number in the form that a phone dials.
      const sent = field === 'passenger' ? { ...(example as object), callUrl: 'tel:+12025550111' } : asNumber(example);
      expect(value, field).to.deep.equal(driver ? sent : undefined);
    }
  });

  it('the same ride again at the desk has exactly the decided fields of a request', () => {
    const again = (ride: object) => {
      const values = valuesOfRide(ride as Ride, 'repeat', new Date());
      return { values, body: bodyOf(values, { from: pickup, to: destination }) as Partial<Record<string, unknown>> };
    };
    const { values, body } = again(request);
    expect([values.from, values.to]).to.deep.equal([pickup.address, destination.address]);
    for (const [field, { desk, example }] of fields) {
      expect(body[field], field).to.deep.equal(desk ? asNumber(example) : undefined);
    }
    // A new booking has this field by default.
    expect(again({ ...request, onDriverCancel: undefined }).body.onDriverCancel).to.equal(undefined);
  });

  it("the driver's page and the console's form have each field that has only a label", () => {
    for (const { name, label } of labelledFields) {
      const { example } = treatments[name];
      expect(driveWords(driveLanguage('en')).notesOf({ [name]: example })).to.equal(`${label}: ${example}`);
      expect(requestBody((field) => (field === name ? `${example}` : ''))).to.have.property(name, example);
    }
  });

  it('the schema of a creation and its contract have exactly the fields of a request', () => {
    const names = fields.map(([field]) => field);
    expect(Object.keys(newRideSchema(api.ctx.config).describe().keys)).to.have.members(names);
    const contract = readFileSync('docs/contract.md', 'utf8');
    const [, table = ''] = /\nCreates a ride\.\n\n(\|.*?)\n\n/s.exec(contract) ?? [];
    const listed = table.split('\n').flatMap((row) => row.split('|')[1]?.match(/(?<=`)\w+(?=`)/g) ?? []);
    expect(listed).to.have.members(names);
  });
});
