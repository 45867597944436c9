import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import type { Caller } from '../../shared/keys/api-key.ts';
import { type HandStep, plainHandSteps, takeHandStep } from '../../shared/rides/manual-steps.ts';
import type { RideState } from '../../shared/rides/ride-types.ts';
import { post, type Route, rideIdOf } from '../http/route.ts';
import type { RequestContext } from '../types.ts';
import { authenticate, originOf } from './authenticate.ts';
import { bodyOf } from './ignored-fields.ts';
import { handSteps } from './operations.ts';
import { presentHandOffer, presentStep } from './presenters.ts';
import { acceptSchema, handOfferSchema } from './schemas.ts';

/** The steps that a partner takes in a test ride by hand (contract, section 10.4). A live key's are refused. */
export function handStepRoutes(service: Context): Route[] {
  const findCaller = authenticate(service);
  const offerBody = bodyOf(handOfferSchema);
  const withdrawBody = bodyOf(acceptSchema);

  async function testCaller(ctx: RequestContext): Promise<Caller> {
    const caller = await findCaller(ctx);
    if (caller.mode !== 'test') throw new AppError('live_ride');
    return caller;
  }

  const route = (
    name: HandStep['step'],
    stepOf: (ctx: RequestContext) => HandStep | Promise<HandStep>,
    present: (ride: RideState) => object = presentStep,
  ): Route =>
    post(handSteps[name], {
      authenticate: testCaller,
      validate: async (ctx, caller) => ({
        step: await stepOf(ctx),
        rideId: rideIdOf(ctx),
        keyId: caller.keyId,
        origin: originOf(ctx),
      }),
      act: ({ step, rideId, keyId, origin }) => takeHandStep(service, rideId, step, { keyId }, origin),
      present,
    });

  return [
    route('offer', async (ctx) => ({ step: 'offer', ...(hasBody(ctx) && (await offerBody(ctx))) }), presentHandOffer),
    route('withdraw', async (ctx) => ({ step: 'withdraw', ...(await withdrawBody(ctx)) })),
    // A body is ignored.
    ...plainHandSteps.map((step) => route(step, () => ({ step }))),
  ];
}

const hasBody = ({ req: { headers } }: RequestContext): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
