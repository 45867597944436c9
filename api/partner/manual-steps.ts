import Joi from 'joi';
import { AppError, type ErrorCode } from '../../shared/base/errors.ts';
import { objectSchema } from '../../shared/base/json-schema.ts';
import { answerOf, bodySchema } from '../../shared/base/operation.ts';
import { applyManualStep, type ManualStep, type plainManualSteps } from '../../shared/rides/apply-manual-step.ts';
import { exampleOffer } from '../../shared/rides/event-schemas.ts';
import { offerSchema, status } from '../../shared/rides/public-schemas.ts';
import type { Offer, RideState, RideStatus } from '../../shared/rides/ride-types.ts';
import { readJsonBody } from '../http/body.ts';
import type { RequestContext } from '../part.ts';
import { manualOfferSchema } from '../rides/field-types.ts';
import { bodyOf } from './ignored-fields.ts';
import { changeOfRide, type PartnerOperation } from './partner-operation.ts';
import { bidding, changed, exampleChanged, type FurtherFields, offerChoice } from './request-fields.ts';

/** The manual steps of a test ride (contract, section 10.4). Live keys get a 403. */

const stepTaken = objectSchema(
  { ...changed, status: { ...status, description: 'The status after the step.' } },
  { title: 'StepTaken' },
);

const offerMade = objectSchema(
  { ...changed, status: bidding, offerId: offerSchema.properties.offerId },
  { title: 'ManualOfferMade' },
);

const presentStep = ({ status }: RideState): FurtherFields<typeof stepTaken> => ({ status });

const stepAnswer = (after: RideStatus, description = 'The step is done.') =>
  answerOf(200, description, stepTaken, { ...exampleChanged, status: after });

/** The new offer is the last one of the ride. */
const presentOffer = ({ offers }: RideState): FurtherFields<typeof offerMade> => {
  const { offerId } = offers.at(-1) as Offer;
  return { status: 'bidding', offerId };
};

interface StepParts extends Pick<PartnerOperation, 'summary' | 'description' | 'body' | 'answer' | 'errors'> {
  readStep(ctx: RequestContext): ManualStep | Promise<ManualStep>;
  present?(ride: RideState): object;
}

function manualStep(name: ManualStep['step'], { readStep, present = presentStep, ...documented }: StepParts) {
  const operation: PartnerOperation = {
    ...documented,
    id: `${name}Manually`,
    method: 'POST',
    path: `/test/rides/:rideId/${name}`,
    tag: 'manual',
    errors: ['live_ride', 'ride_not_found', ...documented.errors],
    route: (api) =>
      changeOfRide<ManualStep>(operation, api, {
        read(ctx, { mode }) {
          if (mode !== 'test') throw new AppError('live_ride');
          return readStep(ctx);
        },
        apply: applyManualStep,
        present,
      }),
  };
  return operation;
}

/** A step without parameters: it ignores the request's body. */
const plainStep = (
  name: (typeof plainManualSteps)[number],
  after: RideStatus,
  summary: string,
  description: string,
  errors: readonly ErrorCode[] = ['illegal_step'],
) =>
  manualStep(name, {
    summary,
    description: `${description} A body is ignored.`,
    answer: stepAnswer(after),
    errors,
    readStep: () => ({ step: name }),
  });

const readOffer = bodyOf(manualOfferSchema);
const readOfferChoice = bodyOf(offerChoice);

const hasBody = ({ req: { headers } }: RequestContext): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const manualStart = bodySchema<{ pin?: string }>('ManualStart', {
  pin: Joi.string().empty(null).description('The PIN of the passenger. Needed for a ride with a PIN.'),
});

/** Whatever else the body is, a ride without a PIN does not need it. */
async function pinIn(ctx: RequestContext): Promise<string | undefined> {
  const body = hasBody(ctx) ? await readJsonBody(ctx).catch(() => null) : null;
  const pin: unknown = (body as { pin?: unknown } | null)?.pin;
  return typeof pin === 'string' ? pin : undefined;
}

export const manualSteps: readonly PartnerOperation[] = [
  manualStep('offer', {
    summary: 'Make an offer manually',
    description:
      "Makes an offer from a simulated driver. A missing price or ETA has the value of the ride's scenario. [Be the driver](https://rides.example/docs/test-mode#be-the-driver) explains how manual steps and scenarios work together.",
    body: {
      schema: manualOfferSchema,
      examples: { 'An offer': { price: 26, etaMinutes: 4 }, 'The values of the scenario': {} },
      isOptional: true,
    },
    answer: answerOf(200, 'The offer is made.', offerMade, {
      ...exampleChanged,
      status: 'bidding',
      offerId: exampleOffer.offerId,
    }),
    errors: ['ride_not_bidding', 'bidding_not_open', 'bidding_over', 'offers_full', 'payload_too_large'],
    readStep: async (ctx) => ({ step: 'offer', ...(hasBody(ctx) && (await readOffer(ctx))) }),
    present: presentOffer,
  }),
  manualStep('withdraw', {
    summary: 'Withdraw an offer manually',
    description: 'Withdraws an offer, as its driver would. No event is sent.',
    body: { schema: offerChoice, examples: { 'An offer': { offerId: exampleOffer.offerId } } },
    answer: stepAnswer('bidding', 'The offer is withdrawn.'),
    errors: ['offer_not_found', 'ride_not_bidding', 'offer_withdrawn', 'payload_too_large'],
    readStep: async (ctx) => ({ step: 'withdraw', ...(await readOfferChoice(ctx)) }),
  }),
  plainStep('open', 'bidding', 'Open the bidding manually', 'Opens the bidding of a ride with a `pickupAt` now.'),
  plainStep('arrive', 'arrived', 'Arrive manually', 'The driver is at the pickup.'),
  manualStep('start', {
    summary: 'Start manually',
    description: 'The passenger is in the car. A ride with a PIN needs it; otherwise the body is ignored.',
    body: { schema: manualStart, examples: { 'With the PIN': { pin: '4821' } }, isOptional: true },
    answer: stepAnswer('in_progress'),
    errors: ['illegal_step', 'wrong_pin', 'pin_locked'],
    readStep: async (ctx) => ({ step: 'start', pin: await pinIn(ctx) }),
  }),
  plainStep('complete', 'completed', 'Complete manually', 'The passenger has left the car.'),
  plainStep(
    'cancel',
    'cancelled',
    'Cancel manually',
    'The driver cancels the ride. Not possible while the ride is `bidding`: then it has no driver.',
    ['illegal_step', 'ride_ended'],
  ),
  plainStep(
    'expire',
    'cancelled',
    'Time out manually',
    "Ends the time limit of the ride's status, so that the ride is cancelled.",
    ['ride_ended'],
  ),
];
