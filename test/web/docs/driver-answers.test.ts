import { expect } from 'chai';
import { driverOperations } from '../../../api/drivers/routes.ts';
import { stepTaken } from '../../../api/drivers/step-operations.ts';
import type { Operation } from '../../../shared/base/operation.ts';
import type { Need } from '../../../shared/base/terms.ts';
import { drivers } from '../../../shared/drivers/driver.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { RideStatus } from '../../../shared/rides/ride-types.ts';
import { operationCaller, type Provocations, testDocumentedErrors } from '../../support/common-errors.ts';
import { fieldsIn, fieldsOf, openApi } from '../../support/documented.ts';
import { dispatchedRide, type GatewayDriver, newGatewayDriver, somewhere } from '../../support/drivers.ts';
import { labelledExamples, offerOn } from '../../support/rides.ts';
import { useTestApi } from '../../support/service.ts';
import { endBidding, storedRide } from '../../support/stored-rides.ts';
import { useStarted } from '../../support/use-started.ts';

// `call`, `rawRequest` and the driver's stream compare every answer with the document in all tests of the gateway.
describe('documented answers to drivers', () => {
  const api = useTestApi();
  const caller = useStarted(() => operationCaller(api, '/drivers/v1', () => driver.key));
  let driver: GatewayDriver;
  let place: ReturnType<typeof somewhere>;

  beforeEach(async () => {
    place = somewhere();
    driver = await newGatewayDriver(api, { at: place, equipment: ['pet'] });
  });

  const terms = { price: 20, etaMinutes: 5 };
  const offerBy = async (rideId: string, by = driver): Promise<string> =>
    (await by.post(`/requests/${rideId}/offers`, terms)).body.offerId;
  const accept = (rideId: string, offerId: string) =>
    applyAction(api.ctx, rideId, { action: 'accept', offerId }, 'anyone');
  const cancelByPartner = (rideId: string) =>
    applyAction(api.ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
  const openRide = (fields = {}) => dispatchedRide(api.ctx, place, fields);

  /** Creates a ride that the driver was chosen for. */
  async function ownRide(fields = {}) {
    const rideId = await openRide(fields);
    const offerId = await offerBy(rideId);
    await accept(rideId, offerId);
    return { rideId, offerId };
  }

  /** Calls an operation for a ride that is open to the driver, after `prepare`. */
  const onOpenRide = (prepare?: (rideId: string) => Promise<unknown>) => async (operation: Operation) => {
    const rideId = await openRide();
    await prepare?.(rideId);
    return caller.run(operation, { rideId });
  };
  /** Calls an operation for a ride that the driver was chosen for, after `prepare`. */
  const onOwnRide =
    (prepare: (rideId: string, operation: Operation) => Promise<unknown>) => async (operation: Operation) => {
      const { rideId } = await ownRide();
      await prepare(rideId, operation);
      return caller.run(operation, { body: { rideId } });
    };
  const set = (rideId: string, fields: object) => rides.updateOne({ _id: rideId }, { $set: fields });

  /** How to cause each error that is documented for drivers. */
  const provocations: Provocations = {
    ride_not_found: (operation) => caller.run(operation),
    not_own_ride: (operation) => caller.run(operation),
    offer_not_found: onOpenRide(),
    ride_not_bidding: async (operation) =>
      operation.method === 'DELETE' ? caller.run(operation, await ownRide()) : onOpenRide(cancelByPartner)(operation),
    bidding_over: onOpenRide(endBidding),
    offer_exists: onOpenRide((rideId) => offerBy(rideId)),
    driver_offers_full: onOpenRide(async (rideId) => {
      for (let made = 0; made < 3; made++) {
        const offerId = await offerBy(rideId);
        await applyAction(api.ctx, rideId, { action: 'withdrawOffer', offerId }, 'anyone');
      }
    }),
    offers_full: onOpenRide(async (rideId) => set(rideId, { offers: Array(50).fill(await offerOn(api.ctx, rideId)) })),
    on_a_ride: onOpenRide(() => ownRide()),
    equipment_missing: onOpenRide((rideId) => set(rideId, { needs: ['wheelchair'] })),
    illegal_step: onOwnRide(async (rideId, { path }) => {
      // Arriving is the first step, so only the end of the ride makes it illegal.
      if (path === '/ride/arrive') await cancelByPartner(rideId);
    }),
    wrong_pin: onOwnRide((rideId) => set(rideId, { status: 'arrived', pinCode: '4821' })),
    pin_locked: onOwnRide((rideId) =>
      set(rideId, { status: 'arrived', pinCode: '4821', wrongPinsAt: Array(5).fill(new Date()) }),
    ),
    ride_ended: onOwnRide(cancelByPartner),
    too_many_streams: async (operation) => {
      const streams = await Promise.all(Array.from({ length: 5 }, () => driver.stream()));
      const answer = await caller.run(operation);
      await Promise.all(streams.map((stream) => stream.close()));
      return answer;
    },
  };

  testDocumentedErrors(driverOperations, caller, provocations);

  it('every documented field of a driver answer appears in a real answer', async () => {
    const seen = new Map<string, Set<string>>();
    const saw = (name: string, { body }: { body: unknown }) =>
      seen.set(name, new Set([...(seen.get(name) ?? []), ...fieldsIn(body)]));

    const asked = driver;
    const pickupAt = new Date(Math.round(api.ctx.now()) + 20 * 60_000);
    const open = await openRide({ pickupAt, needs: ['pet'] });
    await offerBy(open);
    saw('DriverRequestList', await driver.get('/requests'));
    const wish = {
      pickup: { ...place, address: 'here' },
      destination: { lat: place.lat + 0.05, lng: place.lng, address: 'there' },
      passenger: { name: 'Ada', phone: '+12025550111', locale: 'en' },
      notes: 'at the gate',
      pickupAt,
      needs: ['pet'] as Need[],
      ...labelledExamples,
      pin: true,
    };
    const rideId = await dispatchedRide(api.ctx, wish.pickup, wish);
    const made = await driver.post(`/requests/${rideId}/offers`, terms);
    saw('DriverOfferMade', made);
    await accept(rideId, made.body.offerId);
    const ratings = { count: 5, sum: 23, rev: 1 };
    await drivers.updateOne({ _id: driver.driverId }, { $set: { ratings } });
    saw('DriverProfile', await driver.get('/me'));
    saw('DriverAvailability', await driver.post('/me/online', place));
    const note = { number: 1, text: 'Side entrance', at: new Date(), seenAt: new Date() };
    const route = { to: 'pickup' as const, at: new Date(), road: { line: '_p~iF~ps|U_ulLnnqC', km: 1, seconds: 90 } };
    await rides.updateOne({ _id: rideId }, { $set: { driverNotes: [note], route } });
    const own = await driver.get('/ride');
    saw('DriverOwnRide', own);
    saw('DriverMessage', { body: own.body.ride.messages[0] });
    const { pinCode: pin } = await storedRide(rideId);
    const statuses: RideStatus[] = [];
    for (const step of ['arrive', 'start', 'complete', 'cancel']) {
      if (step === 'cancel') driver = await newGatewayDriver(api, { at: place });
      const taken = await driver.post(`/ride/${step}`, step === 'cancel' ? await ownRide() : { rideId, pin });
      saw('DriverStepTaken', taken);
      statuses.push(taken.body.status);
    }
    expect(statuses).to.have.members([...stepTaken.properties.status.enum]);
    saw('DriverTrips', await asked.get('/trips'));

    await cancelByPartner(open);
    saw('DriverRequestOutcome', await asked.get(`/requests/${open}`));

    for (const [name, fields] of seen) {
      expect([...fields], name).to.have.members([...new Set(fieldsOf({ $ref: `#/components/schemas/${name}` }))]);
    }
    const shown = Object.entries(openApi.driver.components.schemas).filter(
      ([name, schema]) =>
        !schema.enum &&
        name !== 'ErrorBody' &&
        // These are parts of other schemas, or request bodies.
        ![
          ...['DriverRequest', 'DriverRide', 'DriverPlace', 'DriverReport', 'DriverOffer', 'DriverStep'],
          ...['DriverStart', 'DriverSeen'],
        ].includes(name),
    );
    expect([...seen.keys()]).to.have.members(shown.map(([name]) => name));
  });
});
