import { objectSchema } from '../../shared/base/json-schema.ts';
import { answerOf, bodySchema } from '../../shared/base/operation.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { changeTerms } from '../../shared/rides/change-terms.ts';
import type { Command } from '../../shared/rides/decide.ts';
import { exampleOffer } from '../../shared/rides/event-schemas.ts';
import { fare, messageNumber, movingStatus, status } from '../../shared/rides/public-schemas.ts';
import type { MovingStatus } from '../../shared/rides/ride-types.ts';
import { money, nonEmptyTextUpTo } from '../rides/field-types.ts';
import { changedTerms, changedTermsSchema } from '../rides/new-ride.ts';
import { originOf } from './authenticate.ts';
import { bodyOf } from './ignored-fields.ts';
import { changeOfRide, type PartnerOperation } from './partner-operation.ts';
import { bidding, changed, exampleChanged, type FurtherFields, offerChoice } from './request-fields.ts';
import { warnOfFare, warnOfMaxPrice, warnOfPhone, warnOfPlaces } from './warnings.ts';

/** The operations with which a partner changes a ride. */

const offerAccepted = objectSchema(
  {
    ...changed,
    status: {
      ...movingStatus,
      description: '`driver_arriving`; if you accept the same offer again, the current status.',
    },
  },
  { title: 'OfferAccepted' },
);

/** Contract, section 4.4. */
export const acceptOffer: PartnerOperation = {
  id: 'acceptOffer',
  method: 'POST',
  path: '/rides/:rideId/accept',
  summary: 'Accept an offer',
  description:
    'Accepts one offer: its driver is dispatched, all other offers are dropped, and the ride becomes `driver_arriving`.\n\nIdempotent until the ride has ended: accepting the same offer again returns 200 and changes nothing. So you can repeat the request after a lost answer.',
  tag: 'rides',
  body: { schema: offerChoice, examples: { 'An offer': { offerId: exampleOffer.offerId } } },
  answer: answerOf(200, 'The offer is accepted.', offerAccepted, { ...exampleChanged, status: 'driver_arriving' }),
  errors: [
    'ride_not_found',
    'offer_not_found',
    'ride_not_bidding',
    'bidding_over',
    'offer_withdrawn',
    'driver_busy',
    'payload_too_large',
  ],
  route(api) {
    const body = bodyOf(offerChoice);
    return changeOfRide<Command>(acceptOffer, api, {
      read: async (ctx) => ({ action: 'accept', ...(await body(ctx)) }),
      apply: applyAction,
      // The status is a moving one, because accepting an offer again succeeds only until the ride has ended.
      present: ({ status }): FurtherFields<typeof offerAccepted> => ({ status: status as MovingStatus }),
    });
  },
};

const rideChanged = objectSchema({ ...changed, status }, { title: 'RideChanged' });

/** Contract, section 10.14. */
export const changeRequest: PartnerOperation = {
  id: 'changeRide',
  method: 'PATCH',
  path: '/rides/:rideId',
  summary: 'Change a ride',
  description:
    'Changes what you asked for; fields that you leave out stay. `destination`, `passengerCount`, `needs` and `pickupAt` can change while the ride is `bidding`, the other fields until it ends. A new destination changes `distanceKm` to the great-circle distance. Offers of drivers whose cars no longer fit are withdrawn. Drivers see the change at once, and it sends no event.\n\nIdempotent: a repeat returns 200 and changes nothing.',
  tag: 'rides',
  body: {
    // Only the checks of `webhookUrl` depend on the settings.
    schema: changedTermsSchema({ environment: 'production', webhookLocalTargets: [] }),
    examples: {
      'The trip': { destination: { lat: 40.7061, lng: -74.0088, address: 'Pier 11' }, passengerCount: 3 },
      'A note': { notes: 'The guest waits at the side entrance' },
    },
  },
  answer: answerOf(200, 'The ride has these values.', rideChanged, { ...exampleChanged, status: 'bidding' }),
  errors: ['ride_not_found', 'ride_not_bidding', 'bidding_over', 'ride_ended', 'payload_too_large'],
  route(api) {
    const body = bodyOf(changedTermsSchema(api.service.config));
    return changeOfRide(changeRequest, api, {
      read: async (ctx) => changedTerms(await body(ctx)),
      apply: changeTerms,
      warn(ctx, { pickup, destination }, terms) {
        if (terms.destination) warnOfPlaces(ctx, pickup, destination);
        warnOfPhone(ctx, terms.passenger);
      },
      present: ({ status }): FurtherFields<typeof rideChanged> => ({ status }),
    });
  },
};

const newFare = bodySchema<{ fare: number }>('NewFare', {
  fare: money.required().description('The new fare, in USD: not below the current one.'),
});

const fareRaised = objectSchema({ ...changed, status: bidding, fare }, { title: 'FareRaised' });

/** Contract, section 10.6. */
export const raiseFare: PartnerOperation = {
  id: 'raiseFare',
  method: 'POST',
  path: '/rides/:rideId/fare',
  summary: 'Raise the fare',
  description:
    'Raises the fare of a ride that is `bidding`. Drivers who were asked see it immediately; existing offers do not change.\n\nIdempotent: the fare that the ride already has returns 200 and changes nothing. So you can repeat the request after a lost answer.',
  tag: 'rides',
  body: { schema: newFare, examples: { 'A fare': { fare: 27 } } },
  answer: answerOf(200, 'The ride has the new fare.', fareRaised, { ...exampleChanged, status: 'bidding', fare: 27 }),
  errors: ['ride_not_found', 'ride_not_bidding', 'bidding_over', 'fare_not_higher', 'payload_too_large'],
  route(api) {
    const body = bodyOf(newFare);
    return changeOfRide<Command>(raiseFare, api, {
      async read(ctx) {
        const { fare } = await body(ctx);
        warnOfFare(ctx, fare);
        return { action: 'raiseFare', fare };
      },
      apply: applyAction,
      warn: warnOfMaxPrice,
      present: ({ fare }): FurtherFields<typeof fareRaised> => ({ status: 'bidding', fare }),
    });
  },
};

const rideCancelled = objectSchema(
  { ...changed, status: { const: 'cancelled', type: 'string', description: 'The ride has ended.' } },
  { title: 'RideCancelled' },
);

/** Contract, section 4.5. */
export const cancelRide: PartnerOperation = {
  id: 'cancelRide',
  method: 'POST',
  path: '/rides/:rideId/cancel',
  summary: 'Cancel a ride',
  description: 'Cancels a ride that is not completed or cancelled yet. The request has no body; a body is ignored.',
  tag: 'rides',
  answer: answerOf(200, 'The ride is cancelled.', rideCancelled, { ...exampleChanged, status: 'cancelled' }),
  errors: ['ride_not_found', 'ride_ended'],
  route: (api) =>
    changeOfRide<Command>(cancelRide, api, {
      read: () => ({ action: 'cancel', by: 'partner' }),
      apply: applyAction,
      present: (): FurtherFields<typeof rideCancelled> => ({ status: 'cancelled' }),
    }),
};

const messageText = bodySchema<{ text: string }>('DriverMessageText', {
  text: nonEmptyTextUpTo(300).required().description('The message, at most 300 characters.'),
});

const driverTold = objectSchema({ ...changed, status, number: messageNumber }, { title: 'DriverTold' });

/** Contract, section 10.18. */
export const tellDriver: PartnerOperation = {
  id: 'tellDriver',
  method: 'POST',
  path: '/rides/:rideId/messages',
  summary: 'Write to the driver',
  description:
    'Shows a message on the page of the driver, from when a driver is found until the ride ends; at most 10 for each ride. When the ride is retrieved, `seenAt` says that the driver has seen it. It sends no event.\n\nThe same text again within a minute is a repeat: it returns 200 and sends nothing.',
  tag: 'rides',
  body: { schema: messageText, examples: { 'A message': { text: 'The guest waits at the side entrance' } } },
  answer: answerOf(200, 'The driver has the message.', driverTold, {
    ...exampleChanged,
    status: 'driver_arriving',
    number: 1,
  }),
  errors: ['ride_not_found', 'no_driver', 'messages_full', 'ride_ended', 'payload_too_large'],
  route(api) {
    const body = bodyOf(messageText);
    return changeOfRide<Command>(tellDriver, api, {
      read: async (ctx) => ({ action: 'tellDriver', ...(await body(ctx)), origin: originOf(ctx) }),
      apply: applyAction,
      present: ({ status, driverNotes = [] }): FurtherFields<typeof driverTold> => ({
        status,
        number: driverNotes.length,
      }),
    });
  },
};
