import { AppError } from '../../shared/base/errors.ts';
import { rideOf } from '../../shared/rides/list-rides.ts';
import { type AccountOwner, attemptOf } from '../../shared/webhooks/attempts.ts';
import { attemptPath, entryPath, ridePath } from '../kit/paths.ts';

/** True if a text has the form of a ride, event or attempt id. */
export const isId = (text: string): boolean => /^(ride|evt|att)_\w+$/.test(text);

/** The path of the page for this ride, event or attempt id; null if the account has none with this id. */
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
