import fc from 'fast-check';
import type { CancelledBy, RideStatus } from '../../shared/rides/ride-types.ts';

/** An action on a ride. `driver` and `offer` are numbers; an offer may be one that the ride never had. */
export type Step =
  | { do: 'offer'; driver: number; price: number }
  | { do: 'withdrawOffer' | 'accept'; offer: number }
  | { do: 'open' | 'arrive' | 'start' | 'complete' }
  | { do: 'endBidding' }
  | { do: 'cancel'; by: CancelledBy };

const offerNumber = fc.nat(4);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('offer'), driver: fc.nat(3), price: fc.integer({ min: 1, max: 90 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('withdrawOffer'), offer: offerNumber }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('accept'), offer: offerNumber }) },
  { weight: 7, arbitrary: fc.record({ do: fc.constantFrom('arrive', 'start', 'complete') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('open') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('endBidding') }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('cancel'), by: fc.constantFrom('partner', 'driver', 'timeout') }),
  },
) as fc.Arbitrary<Step>;

/** Random steps, most of them illegal, or a trip with a legal beginning, so that some trips reach their end. */
export const someSteps: fc.Arbitrary<Step[]> = fc.oneof(
  fc.array(step, { maxLength: 25 }),
  fc
    .array(step, { maxLength: 12 })
    .map((rest): Step[] => [{ do: 'offer', driver: 0, price: 20 }, { do: 'accept', offer: 0 }, ...rest]),
);

/** The lifecycle of a ride for now (contract, sections 3 and 4.4), without time, storage or races. */
export class LifecycleModel {
  status: RideStatus = 'bidding';
  offers: { driver: number; price: number; isLive: boolean }[] = [];
  accepted: number | null = null;
  cancelledBy: CancelledBy | null = null;
  isOver = false;
  sent: string[] = [];
  changes = 0;

  /** Applies a step. Returns `done`, `nothing` if the step was done before, or the error code. */
  take(step: Step): string {
    switch (step.do) {
      case 'endBidding':
        this.isOver = true;
        return 'nothing';
      case 'offer':
        if (this.status !== 'bidding') return 'ride_not_bidding';
        if (this.isOver) return 'bidding_over';
        if (this.offers.some((offer) => offer.isLive && offer.driver === step.driver)) return 'offer_exists';
        if (this.offers.filter((offer) => offer.driver === step.driver).length >= 3) return 'driver_offers_full';
        this.offers.push({ driver: step.driver, price: step.price, isLive: true });
        return this.done('offer.received');
      case 'withdrawOffer': {
        if (this.status !== 'bidding') return 'ride_not_bidding';
        const offer = this.offers[step.offer];
        if (!offer) return 'offer_not_found';
        if (!offer.isLive) return 'offer_withdrawn';
        offer.isLive = false;
        return this.done();
      }
      case 'accept': {
        const offer = this.offers[step.offer];
        if (!offer) return 'offer_not_found';
        if (this.accepted === step.offer && !this.hasEnded()) return 'nothing';
        if (this.status !== 'bidding') return 'ride_not_bidding';
        if (this.isOver) return 'bidding_over';
        if (!offer.isLive) return 'offer_withdrawn';
        this.accepted = step.offer;
        return this.goTo('driver_arriving');
      }
      case 'open':
        return 'illegal_step';
      case 'arrive':
        return this.status === 'driver_arriving' ? this.goTo('arrived') : 'illegal_step';
      case 'start':
        return this.status === 'arrived' ? this.goTo('in_progress') : 'illegal_step';
      case 'complete':
        return this.status === 'in_progress' ? this.goTo('completed') : 'illegal_step';
      case 'cancel':
        if (this.hasEnded()) return 'ride_ended';
        this.cancelledBy = step.by;
        return this.goTo('cancelled');
    }
  }

  private hasEnded(): boolean {
    return this.status === 'completed' || this.status === 'cancelled';
  }

  private goTo(status: RideStatus): string {
    this.status = status;
    return this.done(status);
  }

  private done(event?: string): string {
    this.changes += 1;
    if (event) this.sent.push(event);
    return 'done';
  }
}
