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

  /** Changes fields of a form as a browser does, which shows a text without line breaks. */
  async function change(rideId: string, part: 'trip' | 'details', typed: Record<string, string>): Promise<number> {
    const path = `${deskPath}/rides/${rideId}/change`;
    const { html } = await visitor.get(path);
    const [form = ''] = new RegExp(`<form[^>]*/change/${part}".*?</form>`, 's').exec(html) ?? [];
    const inputs = [...form.matchAll(/<input(?![^>]*type="checkbox")[^>]*name="(\w+)"[^>]*>/g)];
    const shown = inputs.map(([tag, name]) => [name, (/value="([^"]*)"/.exec(tag)?.[1] ?? '').replaceAll('\n', '')]);
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

  it('an emptied field is removed, also the floor', async () => {
    const rideId = await givenRide();
    expect(await change(rideId, 'details', { floor: '', notes: '' })).to.equal(303);
    expect(await storedRide(rideId)).not.to.have.any.keys('floor', 'notes');
  });
});
