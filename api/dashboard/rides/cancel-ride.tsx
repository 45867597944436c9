import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { StatusPill } from '../../../web/kit/facts.tsx';
import { ChangeForm } from '../../../web/kit/forms.tsx';
import { ridePath } from '../../../web/kit/paths.ts';
import { dashboardPage, PageHead } from '../frame.tsx';
import { rideName, TripText } from './ride-facts.tsx';

/** The section of the page, the address of its form, and the page to which it leads back. */
interface CancelPlaces {
  section?: 'rides' | 'console' | 'desk';
  action?: string;
  back?: string;
}

/** Asks for confirmation before a ride is cancelled, because that cannot be undone. */
export function cancelRidePage(
  account: CurrentAccount,
  ride: Ride,
  { section = 'rides', action = `${ridePath(ride._id)}/cancel`, back = ridePath(ride._id) }: CancelPlaces = {},
): string {
  const title = 'Cancel this ride?';
  return dashboardPage({
    title,
    account,
    section,
    test: ride.mode === 'test',
    children: (
      <div id="question">
        <PageHead title={title}>
          <p class="title-row">
            <strong>{rideName(ride)}</strong> <StatusPill status={ride.status} />
          </p>
          <TripText ride={ride} />
        </PageHead>
        <ul class="effects">
          <li>{effectOf(ride)}</li>
          {section !== 'desk' && (
            <li>
              Your system gets the event <code>ride.status: cancelled</code>.
            </li>
          )}
          <li>This cannot be undone.</li>
        </ul>
        <ChangeForm action={action} class="actions">
          <button class="btn destroys" type="submit">
            Cancel ride
          </button>
          {/* It has the focus first, so that a second Enter cancels nothing. */}
          <a class="btn second" href={back} autofocus>
            Keep the ride
          </a>
        </ChangeForm>
      </div>
    ),
  });
}

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
