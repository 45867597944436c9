import { AppError } from '../../../shared/base/errors.ts';
import { rideOf } from '../../../shared/rides/list-rides.ts';
import { type AccountOwner, attemptOf } from '../../../shared/webhooks/attempts.ts';
import { attemptPath } from '../deliveries/paths.ts';
import { entryPath, ridePath, ridesPath } from './paths.ts';

/** The field for an id that somebody has found in a log: of a ride, of an event (`X-Service-Event-Id`) or of an attempt. */
export function FindById({ value = '', fault }: { value?: string; fault?: string }) {
  return (
    <form class="find" method="get" action={ridesPath} noValidate>
      <input
        id="id"
        name="id"
        class="mono"
        value={value}
        aria-label="Ride, event or attempt id"
        aria-invalid={fault ? 'true' : undefined}
        aria-describedby={fault ? 'id-fault' : undefined}
        placeholder="ride_, evt_ or att_ id"
        autocomplete="off"
        spellcheck={false}
      />
      <button class="btn second" type="submit">
        Open
      </button>
      {fault && (
        <p class="fault" id="id-fault">
          {fault}
        </p>
      )}
    </form>
  );
}

/** The page of what has this id, or null where the account has nothing with it. */
export async function pathOfId(id: string, owner: AccountOwner): Promise<string | null> {
  const [, rideKey, seq] = /^evt_(\w+)_(\d+)$/.exec(id) ?? [];
  const rideId = rideKey ? `ride_${rideKey}` : id;
  if (rideId.startsWith('ride_')) {
    const ride = await rideOf(rideId, owner);
    if (!ride) return null;
    return seq ? entryPath(rideId, `delivery-${seq}`) : ridePath(rideId);
  }
  try {
    return attemptPath((await attemptOf(id, owner))._id);
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  }
}
