import { expect } from 'chai';
import { rides } from '../../../shared/rides/ride.ts';
import { deskPath, useTestDesk } from '../../support/test-desk.ts';

describe('booking a ride again at the desk', () => {
  const { visitor, book } = useTestDesk();

  const shown = (html: string, name: string) =>
    new RegExp(`<input[^>]*name="${name}"[^>]*?value="([^"]*)"`).exec(html)?.[1];
  const minuteAfter = (ms: number) => new Date(Date.now() + ms).toISOString().slice(0, 16);
  const bookedRide = () =>
    book({
      ...{ passenger: 'Ada Lovelace', phone: '+1 202 555 0100', notes: 'Side door', reference: 'RES-20332' },
      ...{ fare: '31.5', car: 'family', need_pet: 'yes', to: '40.758, -73.9855' },
    });

  it('repeat fills in the form with all fields of the ride, for now', async () => {
    const rideId = await bookedRide();
    const { html } = await visitor.get(`${deskPath}?repeat=${rideId}`);
    const filled = ['from', 'to', 'passenger', 'phone', 'notes', 'reference', 'fare'].map((name) => shown(html, name));
    expect(filled).to.deep.equal([
      ...['Grand Hotel, 1 Main Street', '40.758, -73.9855', 'Ada Lovelace', '+1 202 555 0100', 'Side door'],
      ...['RES-20332', '31.50'],
    ]);
    expect(html)
      .to.match(/<option value="family" selected/)
      .and.match(/name="need_pet"[^>]*checked/);
    expect(html).to.match(/<option value="now" selected/);
    const sent = { from: shown(html, 'from') ?? '', fromPoint: shown(html, 'fromPoint') ?? '' };
    const again = await rides.findOne({ _id: await book(sent) });
    expect(again?.pickup).to.deep.equal({ lat: 40.7128, lng: -74.006, address: 'Grand Hotel, 1 Main Street' });
  });

  it('repeat keeps a pickup time that is at least 15 minutes ahead', async () => {
    const pickupTime = minuteAfter(3 * 3_600_000);
    const rideId = await book({ when: 'later', pickupTime });
    const { html } = await visitor.get(`${deskPath}?repeat=${rideId}`);
    expect(html).to.match(/<option value="later" selected/);
    expect(shown(html, 'pickupTime')).to.equal(pickupTime);
    expect(html).not.to.include('Its pickup time');
  });

  it('repeat is for now if the pickup time is less than 15 minutes ahead, and says so', async () => {
    const rideId = await book({ when: 'later', pickupTime: minuteAfter(3 * 3_600_000) });
    await rides.updateOne({ _id: rideId }, { $set: { pickupAt: new Date(Date.now() + 10 * 60_000) } });
    const { html } = await visitor.get(`${deskPath}?repeat=${rideId}`);
    expect(html).to.match(/<option value="now" selected/);
    expect(html).to.match(/Its pickup time, .*is less than 15 minutes ahead, so the form books for now/s);
  });

  it('return exchanges the places', async () => {
    const { html } = await visitor.get(`${deskPath}?return=${await bookedRide()}`);
    expect([shown(html, 'from'), shown(html, 'to')]).to.deep.equal(['40.758, -73.9855', 'Grand Hotel, 1 Main Street']);
  });

  it('tomorrow is for later, at the same time of the next day', async () => {
    const rideId = await bookedRide();
    const ride = await rides.findOne({ _id: rideId });
    const { html } = await visitor.get(`${deskPath}?tomorrow=${rideId}`);
    expect(html).to.match(/<option value="later" selected/);
    const time = shown(html, 'pickupTime') ?? '';
    expect(time.slice(11)).to.equal(ride?.createdAt.toISOString().slice(11, 16));
    const aheadMs = Date.parse(`${time}Z`) - (ride?.createdAt.getTime() ?? 0);
    expect(aheadMs).to.be.within(86_400_000 - 60_000, 86_400_000 + 60_000);
    expect(html).to.include(`data-clock="${ride?.createdAt.toISOString()}"`);
  });

  it('an erased ride cannot be repeated: the form is empty and says so', async () => {
    const rideId = await bookedRide();
    await rides.updateOne({ _id: rideId }, { $set: { erasedAt: new Date() } });
    const { status, html } = await visitor.get(`${deskPath}?repeat=${rideId}`);
    expect(status).to.equal(200);
    expect(html).to.include('is erased, so it cannot be repeated');
    expect(shown(html, 'reference') ?? '').to.equal('');
    expect(shown(html, 'to') ?? '').to.equal('');
  });
});
