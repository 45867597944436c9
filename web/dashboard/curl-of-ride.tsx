import { greatCircleKm } from '../../shared/base/great-circle.ts';
import { fieldNames, shownFields } from '../../shared/rides/fields.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { CodeBlock } from '../kit/blocks.tsx';
import { creationAsCurl, firstValues, keyVariable } from '../kit/ride-request.ts';
import { scenarioWords } from '../kit/ride-words.ts';

/** The API request that creates a test ride, and what its simulated driver does. */
export function CurlOfRide({ ride, apiUrl }: { ride: Ride; apiUrl: string }) {
  const { scenario = 'default' } = ride;
  return (
    <section class="section" id="request" aria-labelledby="request-title">
      <h2 id="request-title">The request</h2>
      <p class="quiet">
        Simulated driver: {scenarioWords[scenario]} This is the API request that creates this ride. Put your key into{' '}
        <code>{keyVariable}</code>: keys are not stored.
      </p>
      <CodeBlock label="Request as curl" text={creationAsCurl({ apiUrl, scenario, body: requestOf(ride) })} />
      <p class="quiet">
        A manual step is also an API request, such as <code>POST /v1/test/rides/:rideId/arrive</code>.
      </p>
    </section>
  );
}

/** The body of the ride's creation, without defaults. */
function requestOf(ride: Ride): object {
  const { pickup, destination, passengerCount, distanceKm, carType, rideType } = ride;
  const { passenger, notes, reference, metadata, autoAccept, needs, ...others } = shownFields(ride, fieldNames);
  return {
    pickup,
    destination,
    fare: ride.firstFare ?? ride.fare,
    ...(carType !== firstValues.carType && { carType }),
    ...(rideType !== firstValues.rideType && { rideType }),
    ...(passengerCount !== Number(firstValues.passengerCount) && { passengerCount }),
    ...(distanceKm !== greatCircleKm(pickup, destination) && { distanceKm }),
    passenger,
    notes,
    reference,
    metadata,
    autoAccept,
    needs,
    ...others,
  };
}
