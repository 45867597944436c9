import type { Ride } from '../../shared/rides/ride-types.ts';
import type { Document } from './answer.ts';
import { ButtonLink } from './blocks.tsx';
import { StatusPill } from './facts.tsx';
import { ChangeForm } from './forms.tsx';
import { rideName, TripText } from './ride-parts.tsx';

interface CancelPlaces {
  action: string;
  back: string;
  /** A further effect, listed with the others. */
  effect?: Document['children'];
}

/** Asks for confirmation before a ride is cancelled, because that cannot be undone. */
export const cancelQuestion = (ride: Ride, { action, back, effect }: CancelPlaces): Document => ({
  title: 'Cancel this ride?',
  test: ride.mode === 'test',
  around: (content) => <div id="question">{content}</div>,
  lead: (
    <>
      <p class="row">
        <strong>{rideName(ride)}</strong> <StatusPill status={ride.status} />
      </p>
      <TripText ride={ride} />
    </>
  ),
  children: (
    <>
      <ul class="effects">
        <li>{effectOf(ride)}</li>
        {effect && <li>{effect}</li>}
        <li>This cannot be undone.</li>
      </ul>
      <ChangeForm action={action} class="actions">
        <button class="btn destroys" type="submit">
          Cancel ride
        </button>
        {/* It has the focus first, so that a second Enter cancels nothing. */}
        <ButtonLink to={back} autofocus>
          Keep the ride
        </ButtonLink>
      </ChangeForm>
    </>
  ),
});

/** The effect on the people of the ride. */
function effectOf({ status, driver }: Ride): string {
  const name = driver?.name ?? 'the driver';
  switch (status) {
    case 'driver_arriving':
      return `The driver ${name}, who is on the way to the pickup, is notified at once.`;
    case 'arrived':
      return `The driver ${name}, who is waiting at the pickup, is notified at once.`;
    case 'in_progress':
      return `The driver ${name}, who is driving the passenger, is notified at once.`;
    default:
      return 'All offers are dropped, and drivers no longer see the request.';
  }
}
