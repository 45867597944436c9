import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { cancelQuestion } from '../../../web/kit/cancel-ride.tsx';
import { ridePath } from '../../../web/kit/paths.ts';
import { renderInFrame } from '../web-pages.tsx';

/** Asks for confirmation before a ride is cancelled. */
export function cancelRidePage(account: CurrentAccount, ride: Ride): string {
  const back = ridePath(ride._id);
  const effect = (
    <>
      Your system gets the event <code>ride.status: cancelled</code>.
    </>
  );
  return renderInFrame(account, 'rides', cancelQuestion(ride, { action: `${back}/cancel`, back, effect }));
}
