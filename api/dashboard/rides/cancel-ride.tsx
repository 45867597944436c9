import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { cancelQuestion } from '../../../web/kit/cancel-ride.tsx';
import { renderInFrame } from '../web-pages.tsx';

/** Asks for confirmation before a ride is cancelled. `back` is the path of the ride's page. */
export function cancelRidePage(
  account: CurrentAccount,
  ride: Ride,
  { section, back }: { section: 'rides' | 'console'; back: string },
): string {
  const effect = (
    <>
      Your system gets the event <code>ride.status: cancelled</code>.
    </>
  );
  return renderInFrame(account, section, cancelQuestion(ride, { action: `${back}/cancel`, back, effect }));
}
