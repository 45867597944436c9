import { expect } from 'chai';
import { addPlace, chooseDeskKey } from '../../shared/accounts/desk.ts';
import type { NewKey } from '../../shared/keys/manage-keys.ts';
import { newFormId, useVisitor } from './dashboard.ts';
import { type Given, useTestApi } from './service.ts';

export const deskPath = '/dashboard/desk';

/** The hotel's own door and a place nearby, as a desk saves them. */
const door = { name: 'Grand Hotel', address: '1 Main Street', lat: 40.7128, lng: -74.006 };
const station = { name: 'Penn Station', lat: 40.7506, lng: -73.9935 };

/** A desk with a visitor, a test key and two saved places for each test. The first place is the default pickup. */
export function useTestDesk(given: Given = {}) {
  const api = useTestApi(given);
  const visitor = useVisitor(api);
  const key = {} as NewKey;
  beforeEach(async () => {
    Object.assign(key, await visitor.newKey());
    await chooseDeskKey(visitor.account._id, newFormId(), key.keyId);
    for (const place of [door, station]) await addPlace(visitor.account._id, newFormId(), place);
  });

  const fields = (changes: Record<string, string> = {}) => ({ ...bookingFields, key: key.keyId, ...changes });

  /** Books a ride on the page. Resolves with its id. */
  async function book(changes: Record<string, string> = {}): Promise<string> {
    const { status, headers } = await visitor.post(deskPath, fields(changes));
    expect(status).to.equal(303);
    return /^\/dashboard\/desk\?booked=(ride_\w+)$/.exec(headers.get('location') ?? '')?.[1] ?? '';
  }

  return { api, visitor, key, fields, book };
}

/** The fields that the booking form sends without scripts, except the key. */
const bookingFields = {
  from: 'Grand Hotel',
  to: 'Penn Station',
  when: 'now',
  car: 'regular',
  passengers: '1',
  rideType: 'standard',
  fare: '24.50',
};
