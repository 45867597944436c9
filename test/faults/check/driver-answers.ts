import type { DriverCall } from '../load/driver-at-work.ts';
import type { Suspension } from '../load/fleet.ts';
import { type DriverEvidence, timeOf } from './live-history.ts';
import { faultOf } from './requests.ts';

/** Violations in answers of the drivers' gateway, including answers that contradict the stored ride. */
export function answerViolations({ fleet: { calls, suspensions }, rides, faults }: DriverEvidence): string[] {
  const byId = new Map(rides.map((ride) => [ride._id, ride]));
  return calls.flatMap((call) => {
    const what = [
      faultOf(call, faults),
      statusFault(call, suspensions),
      call.status >= 200 && call.status < 300 && call.rideId ? historyFault(call, byId.get(call.rideId)) : undefined,
    ];
    return what.flatMap((fault) =>
      fault ? [`${call.driverId}, ${call.operation} at ${call.api}, ${call.at}: ${fault}`] : [],
    );
  });
}

const outage = [500, 503, 0];
const expectedStatuses: Record<DriverCall['operation'], readonly number[]> = {
  online: [200],
  offline: [200],
  report: [204],
  requests: [200],
  ride: [200],
  // A 404 is always wrong, because the driver saw the ride among the open requests.
  offer: [201, 409],
  withdraw: [204, 409],
  arrive: [200, 409],
  start: [200, 409],
  complete: [200, 409],
  cancel: [200, 409],
};

function statusFault({ operation, status, driverId, at, ms }: DriverCall, suspensions: readonly Suspension[]) {
  const own = suspensions.filter((each) => each.driverId === driverId);
  if (own.some(({ from, until }) => at > from && at + ms < until)) {
    return [401, ...outage].includes(status) ? undefined : `was answered ${status} while suspended`;
  }
  const mayBeSuspended = own.some(({ askedAt, liftedAt }) => at <= liftedAt && at + ms >= askedAt);
  const expected = [...expectedStatuses[operation], ...outage, ...(mayBeSuspended ? [401] : [])];
  return expected.includes(status) ? undefined : `was answered ${status}`;
}

const statusAfter = { arrive: 'arrived', start: 'in_progress', complete: 'completed', cancel: 'cancelled' } as const;

/** Checks that the stored ride contains the change that was acknowledged to the driver. */
function historyFault(call: DriverCall, ride: DriverEvidence['rides'][number] | undefined): string | undefined {
  const { operation, driverId } = call;
  if (!ride) return `there is no ride ${call.rideId}`;
  if (ride.mode !== 'live') return 'concerns a test ride';
  if (operation === 'offer' || operation === 'withdraw') {
    const offerId = call.offerId ?? call.body?.offerId;
    const offer = ride.offers.find((each) => each.offerId === offerId && each.driver.driverId === driverId);
    if (!offer) return `the ride has no offer ${offerId} of the driver`;
    return operation === 'withdraw' && !offer.withdrawnAt ? `${offerId} is not withdrawn` : undefined;
  }
  if (!(operation in statusAfter)) return undefined;
  const status = statusAfter[operation as keyof typeof statusAfter];
  if (call.body?.status !== status) return `was answered ${call.body?.status}`;
  if (ride.driver?.driverId !== driverId) return 'was done by a driver who was not chosen';
  if (timeOf(ride, status) === undefined) return `was acknowledged, but the ride never was ${status}`;
  return undefined;
}
