import type { ShownRequest, ShownRide } from '../../shared/rides/driver/driver-schemas.ts';
import type { RideStatus } from '../../shared/rides/ride-types.ts';
import { isMoving } from '../../shared/rides/transitions.ts';

/** The driver's actions on the page, kept until the service has accepted them. They contain no passenger data. Pure. */

export const steps = ['arrive', 'start', 'complete', 'cancel'] as const;
export type Step = (typeof steps)[number];

/** The steps that cannot be undone, which are held, or confirmed. */
export type FinalStep = 'complete' | 'cancel';
export const isFinal = (step: Step): step is FinalStep => step === 'complete' || step === 'cancel';

export type Action = { id: string } & (
  | ({ kind: 'offer'; rideId: string } & OfferOnPage)
  | { kind: 'withdraw'; rideId: string; offerId: string }
  | { kind: 'decline'; rideId: string }
  | { kind: 'step'; rideId: string; step: Step; pin?: string }
  | { kind: 'offline' }
);
/** An action without its id, as a button creates it. */
export type NewAction = Action extends infer One ? (One extends Action ? Omit<One, 'id'> : never) : never;

/**
 * An offer on the page. It has no id until the service has answered. With `isWithdrawn`, it is withdrawn as soon as it
 * has an id.
 */
type OfferOnPage = { price: number; etaMinutes: number; offerId?: string; isWithdrawn?: true };
export type RequestOnPage = Omit<ShownRequest, 'offer'> & { offer?: OfferOnPage };

export const rideOf = (action: Action): string | undefined => ('rideId' in action ? action.rideId : undefined);

const statusAfter: Record<Exclude<Step, 'cancel'>, RideStatus> = {
  arrive: 'arrived',
  start: 'in_progress',
  complete: 'completed',
};
const statusOrder: RideStatus[] = ['driver_arriving', 'arrived', 'in_progress', 'completed'];

/** The ride after these actions; null if they end it. */
export function withSteps(ride: ShownRide | null, actions: readonly Action[]): ShownRide | null {
  if (!ride) return null;
  let status: RideStatus = ride.status;
  for (const action of actions) {
    if (action.kind !== 'step' || action.rideId !== ride.rideId) continue;
    const next = action.step === 'cancel' ? 'cancelled' : statusAfter[action.step];
    if (next === 'cancelled' || statusOrder.indexOf(next) > statusOrder.indexOf(status)) status = next;
  }
  return isMoving(status) ? { ...ride, status } : null;
}

/** The requests after these actions: without declined ones. */
export const openRequests = (requests: readonly ShownRequest[], actions: readonly Action[]): RequestOnPage[] =>
  requests
    .filter(({ rideId }) => !actions.some((action) => action.kind === 'decline' && action.rideId === rideId))
    .map((request) => withOffers(request, actions));

/** A request after these actions. */
export function withOffers(request: ShownRequest, actions: readonly Action[]): RequestOnPage {
  let { offer }: RequestOnPage = request;
  for (const action of actions) {
    if (rideOf(action) !== request.rideId) continue;
    if (action.kind === 'offer' && !offer) {
      const { price, etaMinutes, offerId, isWithdrawn } = action;
      offer = { price, etaMinutes, offerId, ...(isWithdrawn && { isWithdrawn }) };
    }
    if (action.kind === 'withdraw' && (!offer?.offerId || offer.offerId === action.offerId)) offer = undefined;
  }
  return { ...request, offer };
}
