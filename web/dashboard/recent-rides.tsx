import type { ListedRide } from '../../shared/rides/list-rides.ts';
import { placeText } from '../../shared/rides/place-text.ts';
import { moneyText, StatusPill, Time } from '../kit/facts.tsx';
import { consoleRidePath, ridesPath } from '../kit/paths.ts';

/** The newest test rides, each with a link to its page in the console. */
export function RecentRides({ rides }: { rides: readonly ListedRide[] }) {
  if (rides.length === 0) return null;
  return (
    <section class="section" aria-labelledby="recent">
      <div class="section-head">
        <h2 id="recent">Recent test rides</h2>
        <a href={`${ridesPath}?mode=test`}>All test rides</a>
      </div>
      <ul class="recent-rides card">
        {rides.map((ride) => (
          <li key={ride._id}>
            <a href={consoleRidePath(ride._id)}>{ride.passenger?.name || ride.reference || tripText(ride)}</a>
            <StatusPill status={ride.status} />
            <span>{moneyText(ride.agreedPrice ?? ride.fare)}</span>
            <Time at={ride.createdAt} />
          </li>
        ))}
      </ul>
    </section>
  );
}

const tripText = ({ pickup, destination }: ListedRide): string => `${placeText(pickup)} to ${placeText(destination)}`;
