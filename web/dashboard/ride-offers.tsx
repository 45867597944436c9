import type { ComponentChildren } from 'preact';
import { waitsToOpen } from '../../shared/rides/opening.ts';
import type { Offer, Ride } from '../../shared/rides/ride-types.ts';
import { Submit, TableHead } from '../kit/blocks.tsx';
import { counted, limitsText, moneyText, Time } from '../kit/facts.tsx';
import { FormId } from '../kit/forms.tsx';
import { ratingText } from '../kit/ride-words.ts';

interface RideAt {
  ride: Ride;
  /** The path of the ride's page. */
  path: string;
}

/** The offers of a ride: to compare and accept while it is bidding, folded afterwards. */
export function Offers({ ride, path }: RideAt) {
  const { status, offers } = ride;
  if (status !== 'bidding') {
    if (offers.length === 0) return null;
    return (
      <details class="section" id="past-offers">
        <summary>{counted(offers.length, 'offer')}</summary>
        <OfferTable ride={ride} path={path} />
      </details>
    );
  }
  return (
    <section class="section" id="offers" aria-labelledby="offers-title">
      <h2 id="offers-title" tabIndex={-1}>
        Offers
      </h2>
      <Explanation ride={ride} />
      {offers.length > 0 && <OfferTable ride={ride} path={path} />}
    </section>
  );
}

function Explanation({ ride }: { ride: Ride }) {
  const { offers, biddingEndsAt, biddingOpensAt, autoAccept } = ride;
  if (biddingOpensAt && waitsToOpen(ride)) {
    return (
      <p class="quiet">
        Drivers are asked from <Time at={biddingOpensAt} /> on.
      </p>
    );
  }
  const isOpen = offers.some(({ withdrawnAt }) => !withdrawnAt);
  return (
    <p class="quiet">
      {isOpen ? 'Accept one by' : 'No offer yet. Drivers can make offers until'}{' '}
      <Time at={biddingEndsAt} form="minute" />
      {isOpen ? ', or the ride is cancelled.' : '.'}
      {autoAccept && ` An offer ${limitsText(autoAccept)} is accepted automatically.`}
    </p>
  );
}

/** In the order of their arrival: a new offer must not move the button under somebody's finger. */
function OfferTable({ ride, path }: RideAt) {
  const { offers, fare } = ride;
  const live = offers.filter(({ withdrawnAt }) => !withdrawnAt);
  const isBest = (value: (offer: Offer) => number, offer: Offer) =>
    live.length > 1 && !offer.withdrawnAt && live.every((other) => value(offer) <= value(other));
  return (
    <table class="table offers cards">
      <TableHead
        columns={['Driver', 'Car', 'Arrives in', 'Price', 'Difference', <span class="spoken">Choice</span>]}
        numbers={['Arrives in', 'Price']}
      />
      <tbody>
        {offers.map((offer) => (
          <tr key={offer.offerId} id={offer.offerId} class={offer.withdrawnAt ? 'quiet' : undefined}>
            <td class="driver breakable line-1 left">
              <span>
                {offer.driver.name || 'Driver'} <span class="quiet nowrap">{ratingText(offer.driver.rating)}</span>
              </span>
            </td>
            <td class="car breakable line-2 small">
              <span>
                {offer.driver.vehicle} <span class="car-plate">{offer.driver.plate}</span>
              </span>
            </td>
            <td class="number line-3 right">
              <Best when={isBest(({ etaMinutes }) => etaMinutes, offer)} word="fastest">
                {offer.etaMinutes} min
              </Best>
            </td>
            <td class="number line-1 right">
              <Best when={isBest(({ price }) => price, offer)} word="cheapest">
                <strong>{moneyText(offer.price)}</strong>
              </Best>
            </td>
            <td class="line-3 left small">{comparedText(offer.price, fare)}</td>
            <td class="choice line-4">
              <Choice ride={ride} path={path} offer={offer} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Marks the best of the offers. */
function Best({ when, word, children }: { when: boolean; word: string; children: ComponentChildren }) {
  return (
    <span>
      {when && <span class="tag">{word}</span>} {children}
    </span>
  );
}

function comparedText(price: number, fare: number): string {
  const cents = Math.round((price - fare) * 100);
  if (cents === 0) return 'at the fare';
  return `${moneyText(Math.abs(cents) / 100)} ${cents > 0 ? 'above' : 'below'} the fare`;
}

function Choice({ ride, path, offer }: RideAt & { offer: Offer }) {
  if (offer.offerId === ride.acceptedOfferId) return <strong>accepted</strong>;
  if (offer.withdrawnAt) return <span class="quiet">withdrawn</span>;
  if (ride.status !== 'bidding') return <span class="quiet">not accepted</span>;
  return (
    <form method="post" action={`${path}/accept`} data-once>
      {/* Derived, so that an update of the page does not replace the form that a person is sending. */}
      <FormId from={`${ride._id} accept ${offer.offerId}`} />
      <input type="hidden" name="offerId" value={offer.offerId} />
      <Submit spoken={` the offer of ${offer.driver.name}, ${moneyText(offer.price)}`}>Accept</Submit>
    </form>
  );
}
