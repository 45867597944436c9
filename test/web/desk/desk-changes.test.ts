import { expect } from 'chai';
import { rides } from '../../../shared/rides/ride.ts';
import { storedRide } from '../../support/stored-rides.ts';
import { deskPath, useTestDesk } from '../../support/test-desk.ts';

describe('changing a ride at the desk', () => {
  const { visitor, book } = useTestDesk();

  const given = {
    // In the second of the two hours which the clocks in New York show twice.
    pickupAt: new Date('2026-11-01T06:30:20.123Z'),
    destination: { lat: 40.758, lng: -73.9855, address: 'Gate 3\nTimes Square' },
    distanceKm: 9,
    passenger: { name: ' Ada  Lovelace ', phone: '+1 202 555 0100' },
    notes: 'First line\nSecond line',
    floor: 7,
  };
  async function givenRide(): Promise<string> {
    const rideId = await book();
    await rides.updateOne({ _id: rideId }, { $set: given });
    return rideId;
  }

  const valueIn = (tag: string): string => (/value="([^"]*)"/.exec(tag)?.[1] ?? '').replaceAll('&quot;', '"');

  /**
   * Changes fields of a form as a browser does, which shows a text without line breaks. Between the form and its
   * submission, the ride gets other values.
   */
  async function change(
    rideId: string,
    part: 'trip' | 'details',
    typed: Record<string, string>,
    meanwhile: object = given,
  ): Promise<number> {
    const path = `${deskPath}/rides/${rideId}/change`;
    const { html } = await visitor.get(path);
    const [form = ''] = new RegExp(`<form[^>]*/change/${part}".*?</form>`, 's').exec(html) ?? [];
    const inputs = [...form.matchAll(/<input(?![^>]*type="checkbox")[^>]*name="(\w+)"[^>]*>/g)];
    const shown = inputs.map(([tag, name]) => [name, valueIn(tag).replaceAll('\n', '')]);
    await rides.updateOne({ _id: rideId }, { $set: meanwhile });
    const { status } = await visitor.post(`${path}/${part}`, {
      ...Object.fromEntries(shown),
      passengers: '1',
      ...typed,
    });
    return status;
  }

  it('what nobody has typed into stays exactly as it is: seconds, repeated hours, line breaks and the distance', async () => {
    const rideId = await givenRide();
    for (const part of ['trip', 'details'] as const) expect(await change(rideId, part, {})).to.equal(303);
    expect((await storedRide(rideId)).changes ?? []).to.deep.equal([]);
    expect(await change(rideId, 'trip', { passengers: '3' })).to.equal(303);
    expect(await change(rideId, 'details', { reference: 'room-7' })).to.equal(303);
    const changed = await storedRide(rideId);
    expect(changed).to.deep.include({ ...given, passengerCount: 3, reference: 'room-7' });
    expect(changed.changes?.map(({ fields }) => fields)).to.deep.equal([['passengerCount'], ['reference']]);
  });

  it('what somebody else has changed since the form was shown stays', async () => {
    const rideId = await givenRide();
    const news = { notes: 'Side entrance', floor: 9, passenger: { name: 'Ada Lovelace', phone: '+1 202 555 0199' } };
    expect(await change(rideId, 'details', { reference: 'room-7' }, news)).to.equal(303);
    const trip = { destination: { lat: 40.7061, lng: -74.0088, address: 'Pier 11' }, needs: ['pet' as const] };
    expect(await change(rideId, 'trip', { passengers: '3' }, trip)).to.equal(303);
    const changed = await storedRide(rideId);
    expect(changed).to.deep.include({ ...news, ...trip, reference: 'room-7', passengerCount: 3 });
    const called = { name: 'Ada L.', phone: '+1 202 555 0111' };
    expect(await change(rideId, 'details', { passenger: 'Ada King' }, { passenger: called })).to.equal(303);
    expect((await storedRide(rideId)).passenger).to.deep.equal({ ...called, name: 'Ada King' });
  });

  it('an emptied field is removed, also the floor', async () => {
    const rideId = await givenRide();
    expect(await change(rideId, 'details', { floor: '', notes: '' })).to.equal(303);
    expect(await storedRide(rideId)).not.to.have.any.keys('floor', 'notes');
  });
});
