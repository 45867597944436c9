import type { ComponentChildren } from 'preact';
import { AppError } from '../../shared/base/errors.ts';
import type { TimerName } from '../../shared/base/terms.ts';
import { canStep, type ManualStep, plainManualSteps } from '../../shared/rides/apply-manual-step.ts';
import { maxOffers } from '../../shared/rides/decide.ts';
import { waitsToOpen } from '../../shared/rides/opening.ts';
import type { Offer, Ride } from '../../shared/rides/ride-types.ts';
import { nextSimulatedOffer } from '../../shared/rides/simulation.ts';
import { hasEnded } from '../../shared/rides/transitions.ts';
import type { SentRequest } from '../kit/answer.ts';
import { Submit } from '../kit/blocks.tsx';
import { moneyText, Time } from '../kit/facts.tsx';
import { FormId, TextField } from '../kit/forms.tsx';
import { consoleRidePath } from '../kit/paths.ts';
import { numberIn } from '../kit/ride-request.ts';

type Name = ManualStep['step'];

const trip: readonly [Name, string][] = [
  ['open', 'Open for offers now'],
  ['arrive', 'Arrive at the pickup'],
  ['start', 'Start the trip'],
  ['complete', 'Complete the trip'],
];
const ends: readonly [Name, string][] = [
  ['cancel', 'Cancel as the driver'],
  ['expire', 'Let the time run out'],
];

const stepWords: Record<TimerName, string> = {
  open: 'The bidding opens',
  route: 'The road is looked up',
  rebid: 'A new ride replaces this one',
  withdrawn: 'The event of a withdrawn offer is sent',
  offer: 'A driver makes an offer',
  offer_2: 'A second driver makes an offer',
  offer_3: 'A third driver makes an offer',
  withdraw: 'The driver withdraws the offer',
  accept: 'The cheapest offer is accepted, unless you choose first',
  arrive: 'The driver reaches the pickup',
  start: 'The trip begins',
  complete: 'The trip ends',
  driver_cancel: 'The driver cancels',
  dispatch: 'More drivers receive the request',
  ask: 'More drivers nearby receive the request',
  driver: 'The driver is notified',
  auto_accept: 'An offer within the auto-accept limits is accepted',
  expire: 'The bidding time ends and the ride is cancelled',
  stall: 'The ride is cancelled because it makes no progress',
  message: 'Passenger and contacts are texted',
};

/** The next automatic step and its time (Unix ms); null once the ride has ended. Pure. */
export function nextStepOf({ status, timers }: Pick<Ride, 'status' | 'timers'>): { words: string; at: number } | null {
  const [next] = hasEnded(status) ? [] : timers.toSorted((a, b) => a.dueAt.getTime() - b.dueAt.getTime());
  return next ? { words: stepWords[next.name], at: next.dueAt.getTime() } : null;
}

/** The driver's side of a test ride: buttons for the manual steps that are possible now, and the next automatic step. */
export function DriverSteps({ ride }: { ride: Ride }) {
  if (hasEnded(ride.status)) return null;
  const next = nextStepOf(ride);
  const waits = waitsToOpen(ride);
  const possible = ([name]: readonly [Name, string]) => canStep(name, ride.status);
  const open = canStep('withdraw', ride.status) ? ride.offers.filter(({ withdrawnAt }) => !withdrawnAt) : [];
  return (
    <section id="driver-card" class="card stack" aria-labelledby="as-driver">
      <h2 id="as-driver">As the driver</h2>
      <p class="quiet if-wide">
        Manual steps replace those of the simulated driver. The scenario continues from there.
      </p>
      {next && (
        <p id="next">
          <strong>Next</strong> {next.words} <Time at={new Date(next.at)} form="time" />
        </p>
      )}
      {canStep('offer', ride.status) && !waits && ride.offers.length < maxOffers && <OfferForm ride={ride} />}
      {open.length > 0 && (
        <ul class="own-offers" id="own-offers" aria-label="Offers that can be withdrawn">
          {open.map((offer) => (
            <li key={offer.offerId} id={`own-${offer.offerId}`} class="apart">
              <p>
                {offer.driver.name}, {moneyText(offer.price)}
              </p>
              <WithdrawForm ride={ride} offer={offer} />
            </li>
          ))}
        </ul>
      )}
      <div class="step-buttons">
        {trip
          .filter((step) => possible(step) && (step[0] !== 'open' || waits))
          .map(([name, label]) => (
            <StepForm key={name} ride={ride} step={name}>
              <Submit>{label}</Submit>
            </StepForm>
          ))}
        {ends.filter(possible).map(([name, label]) => (
          <StepForm key={name} ride={ride} step={name}>
            <Submit second>{label}</Submit>
          </StepForm>
        ))}
      </div>
    </section>
  );
}

function OfferForm({ ride }: { ride: Ride }) {
  const { price, etaMinutes } = nextSimulatedOffer(ride);
  return (
    <StepForm ride={ride} step="offer">
      <TextField
        name="price"
        label="Price in USD"
        inputmode="decimal"
        value={price < 0.01 ? String(price) : price.toFixed(2)}
      />
      <TextField name="etaMinutes" label="Minutes away" inputmode="decimal" value={String(etaMinutes)} />
      <Submit>Make an offer</Submit>
    </StepForm>
  );
}

/** Withdraws an offer on behalf of its driver. */
function WithdrawForm({ ride, offer }: { ride: Ride; offer: Offer }) {
  return (
    <StepForm ride={ride} step="withdraw" of={offer.offerId}>
      <input type="hidden" name="offerId" value={offer.offerId} />
      <Submit second spoken={` the offer of ${offer.driver.name}, ${moneyText(offer.price)}`}>
        Withdraw
      </Submit>
    </StepForm>
  );
}

/**
 * A form for one step. Everyone who follows the ride receives the same HTML, so the form id is derived from the ride's
 * state: in each state, the form is accepted once.
 */
function StepForm({
  ride,
  step,
  of = '',
  children,
}: {
  ride: Ride;
  step: Name;
  /** The id of the offer, for a step that several offers allow. */
  of?: string;
  children: ComponentChildren;
}) {
  return (
    <form
      id={`step-${step}${of}`}
      class={`step-${step}`}
      method="post"
      action={`${consoleRidePath(ride._id)}/steps/${step}`}
      noValidate
    >
      <FormId from={[ride._id, ride.rev, step, of].join(' ')} />
      {children}
    </form>
  );
}

/** The manual step that a form requests, or the validation error of the form. Throws `not_found` for an unknown step. */
export function manualStepIn(request: SentRequest): { step: ManualStep } | { fault: string } {
  const name = request.param('step');
  if (name === 'withdraw') return { step: { step: name, offerId: request.text('offerId') } };
  if (name === 'offer') return offerIn(request);
  const step = plainManualSteps.find((known) => known === name);
  if (!step) throw new AppError('not_found');
  return { step: { step } };
}

const labels: Record<string, string> = { price: 'The price', etaMinutes: 'The minutes until the pickup' };

function offerIn({ text, faultsOfOffer }: SentRequest): { step: ManualStep } | { fault: string } {
  const typed = { price: numberIn(text('price')), etaMinutes: numberIn(text('etaMinutes')) };
  const [fault] = Object.entries(faultsOfOffer(typed));
  if (fault) return { fault: `${labels[fault[0]]} ${fault[1]}` };
  return { step: { step: 'offer', ...(typed as { price?: number; etaMinutes?: number }) } };
}
