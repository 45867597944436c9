import { AppError } from '../../shared/base/errors.ts';
import { rideOf } from '../../shared/rides/list-rides.ts';
import { type AccountOwner, attemptOf } from '../../shared/webhooks/attempts.ts';
import { attemptPath, entryPath, ridePath } from '../kit/paths.ts';

/** True if a text has the form of a ride, event or attempt id. */
export const isId = (text: string): boolean => /^(ride|evt|att)_\w+$/.test(text);

/** The path of the page for this ride, event or attempt id; null if the account has none with this id. */
export async function pathOfId(id: string, owner: AccountOwner): Promise<string | null> {
  const [, of, part = ''] = /^evt_((?:att_)?[0-9A-Za-z]+)_(\d+|offer_[0-9A-Za-z]+)$/.exec(id) ?? [];
  // The id of a test event names its attempt, that of any other event its ride.
  const named = of?.replace(/^(?!att_)/, 'ride_') ?? id;
  if (named.startsWith('ride_')) {
    const ride = await rideOf(named, owner);
    if (!ride) return null;
    if (!part) return ridePath(named);
    return entryPath(named, `${part.startsWith('offer_') ? 'withdrawn' : 'delivery'}-${part}`);
  }
  try {
    return attemptPath((await attemptOf(named, owner))._id);
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  }
}
