import { expect } from 'chai';
import { auditOf } from '../../../shared/accounts/audit.ts';
import { firstRideId, newKeyId } from '../../../shared/base/ids.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { boardRides } from '../../../shared/rides/board-rides.ts';
import { mostNotes } from '../../../shared/rides/driver-notes.ts';
import { askHelp } from '../../../shared/rides/passenger-actions.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import type { BoardState } from '../../../web/desk/board-state.ts';
import { newFormId, signedIn, type Visitor } from '../../support/dashboard.ts';
import { newDesk } from '../../support/desk.ts';
import { formIn, textOf } from '../../support/pages.ts';
import { plansOf } from '../../support/plans.ts';
import { newDriver, newRide, offerOn, rideIn } from '../../support/rides.ts';
import { useTestApi } from '../../support/service.ts';
import { storedRide } from '../../support/stored-rides.ts';
import { memberOf } from '../../support/team.ts';

const minuteMs = 60_000;

describe("a desk's board", () => {
  const api = useTestApi();
  const passMinutes = (minutes: number) => {
    api.ctx.now = () => Date.now() + minutes * minuteMs;
  };

  it('a person changes the passenger and the trip of a ride, and the ride names the person', async () => {
    const { visitor, owner } = await newDesk(api);
    const { rideId, offerId } = await rideIn(api.ctx, 'bidding', { ...owner, ...named('Ann'), passengerCount: 1 });
    const path = `/dashboard/desk/rides/${rideId}/change`;
    const { html } = await visitor.get(path);
    const details = { ...formIn(html, `${path}/details`), notes: 'Side entrance', floor: '3', language: 'fr' };
    expect((await visitor.post(`${path}/details`, details)).status).to.equal(303);
    const trip = {
      ...formIn(html, `${path}/trip`),
      passengers: '3',
      need_pet: 'yes',
      at: '40.7061, -74.0088',
      atPoint: '',
    };
    expect(
      (
        await visitor.post(`${path}/trip`, {
          ...trip,
          need_wheelchair: '',
          need_child_seat: '',
          need_large_luggage: '',
          need_assistance: '',
        })
      ).status,
    ).to.equal(303);
    const ride = await storedRide(rideId);
    expect(ride).to.deep.include({ notes: 'Side entrance', floor: 3, passengerCount: 3, needs: ['pet'] });
    expect(ride.passenger).to.deep.equal({ name: 'Ann', locale: 'fr' });
    expect(ride.destination).to.deep.equal({ lat: 40.7061, lng: -74.0088 });
    const actions = (await auditOf(owner.accountId, 10)).map(({ action }) => action);
    expect(actions.filter((action) => action === 'ride_changed')).to.have.length(2);
    await applyAction(api.ctx, rideId, { action: 'accept', offerId }, 'anyone');
    const late = await visitor.post(`${path}/trip`, { ...trip, formId: newFormId() });
    expect(late.status).to.equal(409);
    expect(textOf(late.html)).to.include('The ride is no longer open for bidding');
    expect((await visitor.get(path)).html).not.to.include(`${path}/trip`);
  });

  it('a pickup time is typed on the clocks at the pickup, and a wrong value is a 422 at its field', async () => {
    const { visitor, owner } = await newDesk(api);
    const pickupAt = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 + 5 * 3_600_000);
    const rideId = await newRide(api.ctx, { ...owner, pickupAt });
    const path = `/dashboard/desk/rides/${rideId}/change`;
    const form = formIn((await visitor.get(path)).html, `${path}/trip`) ?? {};
    const local = new Date(`${form.pickupTime}Z`);
    local.setUTCHours(local.getUTCHours() + 1);
    const later = { ...form, pickupTime: local.toISOString().slice(0, 16), passengers: '1' };
    expect((await visitor.post(`${path}/trip`, later)).status).to.equal(303);
    expect((await storedRide(rideId)).pickupAt?.getTime()).to.equal(pickupAt.getTime() + 3_600_000);
    for (const [fields, words] of [
      [{ pickupTime: '2001-01-01T10:00' }, 'pickupAt must be 15 minutes to 30 days ahead'],
      [{ at: 'nowhere', atPoint: '' }, 'Enter coordinates'],
      [{ passengers: '9' }, 'Choose 1 to 7 seats'],
    ] as const) {
      const wrong = await visitor.post(`${path}/trip`, { ...later, ...fields, formId: newFormId() });
      expect(wrong.status).to.equal(422);
      expect(textOf(wrong.html)).to.include(words);
    }
  });

  const boardOf = async (visitor: Visitor): Promise<BoardState> =>
    JSON.parse((await visitor.get('/dashboard/desk/state?rows')).html);
  /** The names of the rides and headings on the board, in order. */
  async function shownOn(visitor: Visitor): Promise<string[]> {
    const { order, html } = await boardOf(visitor);
    return order.map(([id]) => {
      const row = html.split(`id="${id}"`)[1]?.split('</h')[0] ?? '';
      return textOf(`<${row}`).trim().replace(/ \d+$/, '');
    });
  }
  const named = (name: string) => ({ passenger: { name } });
  /** Inserts copies of a ride, which are newer than it. */
  async function copy(ride: Ride, count: number, changes: (index: number) => Partial<Ride>): Promise<void> {
    const copies = Array.from({ length: count }, (_, index) => ({
      ...ride,
      _id: `${firstRideId(Date.now())}${ride._id.slice(-12)}${String(index).padStart(4, '0')}`,
      trackToken: `${ride._id}${index}`,
      ...changes(index),
    }));
    await rides.insertMany(copies);
  }

  it('lists what needs a person first, then what is under way, then what is for later by its pickup', async () => {
    const { visitor, owner } = await newDesk(api);
    const pickupAt = (hours: number) => new Date(Date.now() + hours * 60 * minuteMs);
    await newRide(api.ctx, { ...owner, ...named('In two hours'), pickupAt: pickupAt(2) });
    await newRide(api.ctx, { ...owner, ...named('In one hour'), pickupAt: pickupAt(1) });
    await rideIn(api.ctx, 'in_progress', { ...owner, ...named('On the way') });
    const lost = await rideIn(api.ctx, 'driver_arriving', { ...owner, ...named('Lost') });
    await applyAction(api.ctx, lost.rideId, { action: 'cancel', by: 'driver' }, 'anyone');
    await rideIn(api.ctx, 'driver_arriving', { ...owner, ...named('Late'), offers: [{ etaMinutes: 1 }] });
    await rideIn(api.ctx, 'driver_arriving', { ...owner, ...named('In time'), offers: [{ etaMinutes: 30 }] });
    await rideIn(api.ctx, 'bidding', { ...owner, ...named('Offered') });
    await rideIn(api.ctx, 'cancelled', { ...owner, ...named('Cancelled by the desk') });
    passMinutes(3);
    expect(await shownOn(visitor)).to.deep.equal([
      ...['Needs you', 'Offered', 'Late', 'Lost'],
      ...['Under way', 'In time', 'On the way'],
      ...['For later', 'In one hour', 'In two hours'],
    ]);
    const { html } = await visitor.get('/dashboard/desk');
    expect(textOf(html)).to.include('3 rides need you').and.to.include('The driver is 2 min late');
  });

  it('says that nothing needs a person, also when there is no ride or no key', async () => {
    const { visitor, owner } = await newDesk(api);
    const text = async () => textOf((await visitor.get('/dashboard/desk')).html);
    expect(await text())
      .to.include('Nothing needs you')
      .and.to.include('No ride is under way');
    await rideIn(api.ctx, 'arrived', owner);
    expect(await text())
      .to.include('Nothing needs you')
      .and.not.to.include('No ride is under way');
  });

  it('a ride that auto-accept will decide needs nobody, and one whose offers are all outside its limits does', async () => {
    const { visitor, owner } = await newDesk(api);
    const wish = { ...owner, autoAccept: { maxPrice: 20, waitSeconds: 60 } };
    await rideIn(api.ctx, 'bidding', { ...wish, ...named('Decided'), offers: [{ price: 19 }] });
    await rideIn(api.ctx, 'bidding', { ...wish, ...named('Too dear'), offers: [{ price: 21 }] });
    expect(await shownOn(visitor)).to.deep.equal(['Needs you', 'Too dear', 'Under way', 'Decided']);
  });

  it('a lost ride leaves the board when the person is booked again, or after an hour', async () => {
    const { visitor, owner } = await newDesk(api);
    const lose = async (name: string) => {
      const { rideId } = await rideIn(api.ctx, 'driver_arriving', { ...owner, ...named(name) });
      await applyAction(api.ctx, rideId, { action: 'cancel', by: 'driver' }, 'anyone');
    };
    await lose('Ada Lovelace');
    await lose('Grace Hopper');
    expect(await shownOn(visitor)).to.have.members(['Needs you', 'Ada Lovelace', 'Grace Hopper']);
    const again = await newRide(api.ctx, { ...owner, ...named('ada lovelace') });
    expect(await shownOn(visitor)).to.deep.equal(['Needs you', 'Grace Hopper', 'Under way', 'ada lovelace']);
    for (const action of ['accept', 'arrive', 'start', 'complete'] as const) {
      const offerId = action === 'accept' ? (await offerOn(api.ctx, again)).offerId : '';
      await applyAction(api.ctx, again, { action, offerId } as never, 'anyone');
    }
    expect(await shownOn(visitor)).to.deep.equal(['Needs you', 'Grace Hopper']);
    passMinutes(61);
    expect(await shownOn(visitor)).to.deep.equal([
      'No ride is under way. A ride appears here as soon as the desk books it.',
    ]);
  });

  it('shows 200 rides, says how many more there are, and reads a bounded number of rides', async () => {
    const { visitor, owner } = await newDesk(api);
    const template = await storedRide(await newRide(api.ctx, owner));
    await copy(template, 1_500, (index) =>
      index % 2 === 0 ? { status: 'cancelled', cancelledBy: 'timeout', statusAt: new Date() } : {},
    );
    const { order, html } = await boardOf(visitor);
    expect(order.filter(([id]) => id.startsWith('board-ride'))).to.have.length(200);
    expect(textOf(html)).to.match(/More than \d+ more rides not shown/);
    const plans = await plansOf(() => boardRides(owner.keyId, Date.now(), api.ctx.config));
    const keysRead = plans.map(({ executionStats }) => executionStats.totalKeysExamined);
    expect(Math.max(...keysRead)).to.be.at.most(510);
    for (const { stages } of plans) expect(stages).not.to.match(/"SORT"|"COLLSCAN"/);
  });

  it('rides for later displace no ride that needs a person, and the soonest ones are shown', async () => {
    const { visitor, owner } = await newDesk(api);
    await rideIn(api.ctx, 'bidding', { ...owner, ...named('Offered') });
    const pickupAt = new Date(Date.now() + 120 * minuteMs);
    const soonest = await storedRide(await newRide(api.ctx, { ...owner, ...named('Soonest'), pickupAt }));
    const after = (minutes: number) => new Date((soonest.biddingOpensAt?.getTime() ?? 0) + minutes * minuteMs);
    await copy({ ...soonest, ...named('Later') }, 1_200, (index) => ({ biddingOpensAt: after(1 + index) }));
    const shown = await shownOn(visitor);
    expect(shown.slice(0, 4)).to.deep.equal(['Needs you', 'Offered', 'For later', 'Soonest']);
    expect(textOf((await boardOf(visitor)).html))
      .to.include('1 ride needs you')
      .and.not.to.include('At least');
    const plans = await plansOf(() => boardRides(owner.keyId, Date.now(), api.ctx.config));
    for (const { stages } of plans) expect(stages).not.to.match(/"SORT"|"COLLSCAN"/);
    // Later, when the rides that were created in the meantime are no longer passed over.
    const later = await plansOf(() => boardRides(owner.keyId, Date.now() + 80 * minuteMs, api.ctx.config));
    for (const { executionStats } of later) expect(executionStats.totalKeysExamined).to.be.at.most(510);
  });

  it('never says that nothing needs a person when it has not read all open rides', async () => {
    const { visitor, owner } = await newDesk(api);
    await copy(await storedRide(await newRide(api.ctx, owner)), 600, () => ({}));
    expect(textOf((await boardOf(visitor)).html))
      .to.include('Not all rides are shown')
      .and.not.to.include('Nothing needs you');
    passMinutes(6);
    expect(textOf((await boardOf(visitor)).html)).to.include('At least 500 rides need you');
  });

  it('an invited member of the role desk accepts and cancels with the forms of the board', async () => {
    const { owner } = await newDesk(api);
    const { rideId } = await rideIn(api.ctx, 'bidding', { ...owner, offers: [{ price: 26 }] });
    const member = await memberOf(api, owner.accountId, 'desk');
    const accept = `/dashboard/desk/rides/${rideId}/accept`;
    for (const html of [(await boardOf(member)).html, (await member.get('/dashboard/desk')).html]) {
      const form = formIn(html, accept);
      expect(form).to.include({ account: owner.accountId });
      const { headers } = await member.post(accept, { account: '', ...form });
      expect(headers.get('location')).to.equal('/dashboard/desk');
    }
    expect(await storedRide(rideId)).to.include({ status: 'driver_arriving', agreedPrice: 26 });
    const cancel = `/dashboard/desk/rides/${rideId}/cancel`;
    const form = formIn((await member.get(cancel)).html, cancel);
    expect((await member.post(cancel, { account: '', ...form })).status).to.equal(303);
    expect((await storedRide(rideId)).status).to.equal('cancelled');
    const actions = (await auditOf(owner.accountId, 10)).map(({ action }) => action);
    expect(actions).to.deep.equal(['ride_cancelled', 'offer_accepted']);
  });

  it('the desk sees the PIN and writes to the driver, sees what was seen, and starts the trip in the place of the driver', async () => {
    const { visitor, owner } = await newDesk(api);
    const { rideId } = await rideIn(api.ctx, 'arrived', { ...owner, pin: true });
    const { pinCode = '' } = await storedRide(rideId);
    const base = `/dashboard/desk/rides/${rideId}`;
    const { html } = await boardOf(visitor);
    expect(textOf(html)).to.include(`PIN ${pinCode}`);
    for (const text of ['Side entrance', 'Ring <twice>']) {
      expect((await visitor.post(`${base}/tell`, { ...formIn(html, `${base}/tell`), text })).status).to.equal(303);
    }
    await rides.updateOne({ _id: rideId }, { $set: { 'driverNotes.0.seenAt': new Date() }, $inc: { rev: 1 } });
    expect(textOf((await boardOf(visitor)).html)).to.match(/Side entrance \(seen\).*Ring <twice> \(not seen yet\)/);
    expect((await visitor.post(`${base}/tell`, { text: ' ' })).status).to.equal(400);
    expect((await visitor.post(`${base}/start`)).status).to.equal(303);
    const { status, events } = await storedRide(rideId);
    expect([status, events.at(-1)?.by]).to.deep.equal(['in_progress', 'dashboard']);
    expect((await auditOf(owner.accountId, 10)).map(({ action }) => action)).to.deep.equal(['trip_started']);
  });

  it('a ride whose passenger asked for help needs a person for 30 minutes, and says so until it ends', async () => {
    const { visitor, owner } = await newDesk(api);
    const { rideId } = await rideIn(api.ctx, 'in_progress', owner);
    expect(textOf((await boardOf(visitor)).html)).to.include('Nothing needs you');
    await askHelp(api.ctx, await storedRide(rideId));
    expect(textOf((await boardOf(visitor)).html)).to.match(/1 ride needs you.*The passenger asked for help/);
    passMinutes(31);
    expect(textOf((await boardOf(visitor)).html)).to.match(/Nothing needs you.*Asked for help/);
  });

  it('names each offer and its passenger for screen readers', async () => {
    const { visitor, owner } = await newDesk(api);
    const { rideId } = await rideIn(api.ctx, 'bidding', { ...owner, ...named('Ada Lovelace') });
    const { html } = await boardOf(visitor);
    expect(html).to.match(new RegExp(`<button[^>]* board-offer"[^>]*aria-describedby="board-${rideId}-name"`));
    expect(html).to.include(' aria-label="Accept $20, 5 min, Toyota Prius, blue, 4.8"');
    expect(textOf(html.split(`id="board-${rideId}-name"`)[1]?.split('</h4>')[0] ?? '')).to.include('Ada Lovelace');
  });

  it('says that the desk has no key, and who chooses one', async () => {
    expect(textOf((await boardOf(await signedIn(api))).html)).to.include('The desk has no key, so it has no rides.');
  });

  it("shows only rides of the desk's key", async () => {
    const { visitor, owner } = await newDesk(api);
    await newRide(api.ctx, { ...owner, keyId: newKeyId(), ...named('Of another key') });
    const other = await newDesk(api);
    await newRide(api.ctx, { ...other.owner, ...named('Of another account') });
    await newRide(api.ctx, { ...owner, ...named('Own') });
    expect(await shownOn(visitor)).to.deep.equal(['Under way', 'Own']);
  });

  it('of two people who accept different offers at the same time, one gets the ride and the other one a message', async () => {
    const { visitor, owner, colleague } = await newDesk(api);
    const { rideId, offers } = await rideIn(api.ctx, 'bidding', { ...owner, offers: [{}, {}] });
    const people = [visitor, await colleague()];
    const answers = await Promise.all(
      people.map((person, index) =>
        person.post(`/dashboard/desk/rides/${rideId}/accept`, { offerId: offers[index]?.offerId ?? '' }),
      ),
    );
    expect(answers.map(({ status }) => status)).to.have.members([303, 409]);
    const refused = answers.find(({ status }) => status === 409);
    expect(textOf(refused?.html ?? '')).to.include(
      'Another person has accepted an offer for this ride: Dana Okoye, $20.00.',
    );
  });

  it('says why a trip was not started and a message was not sent, not who has accepted the offer', async () => {
    const { visitor, owner } = await newDesk(api);
    const { rideId } = await rideIn(api.ctx, 'in_progress', { ...owner, pin: true });
    const base = `/dashboard/desk/rides/${rideId}`;
    const refusal = async (form: string, fields = {}) => {
      const { status, html } = await visitor.post(`${base}/${form}`, fields);
      expect(status).to.equal(409);
      return textOf(html);
    };
    expect(await refusal('start')).to.include('The trip has already started.');
    for (let number = 1; number <= mostNotes; number += 1) {
      await applyAction(api.ctx, rideId, { action: 'tellDriver', text: `Message ${number}` }, 'anyone');
    }
    expect(await refusal('tell', { text: 'One more' })).to.include('The ride has had 10 messages to the driver');
  });

  it('a cancellation is confirmed once, and a second one says who was first', async () => {
    const { visitor, owner, colleague } = await newDesk(api);
    const rideId = await newRide(api.ctx, owner);
    const path = `/dashboard/desk/rides/${rideId}/cancel`;
    expect(textOf((await visitor.get(path)).html)).to.include('Cancel this ride?');
    expect((await storedRide(rideId)).status).to.equal('bidding');
    expect((await visitor.post(path)).status).to.equal(303);
    expect(await storedRide(rideId)).to.include({ status: 'cancelled', cancelledBy: 'partner' });
    const second = await (await colleague()).post(path);
    expect(second.status).to.equal(409);
    expect(textOf(second.html)).to.include('Another person has cancelled this ride.');
    expect((await visitor.get(path)).headers.get('location')).to.equal('/dashboard/desk');
  });

  it('a row has the link and a message for the passenger, without more personal data than they need', async () => {
    const { visitor, owner } = await newDesk(api);
    const driver = newDriver({ name: 'Dana Okoye', plate: 'ABC-1' });
    await rideIn(api.ctx, 'driver_arriving', { ...owner, ...named('Ada'), notes: 'Room 4', offers: [{ driver }] });
    const { html } = await boardOf(visitor);
    const copied = [...html.matchAll(/data-copy="([^"]*)"/g)].map(([, text]) => text);
    const link = copied[0] ?? '';
    expect(link).to.match(/^http.*\/track\/[\w-]+$/);
    expect(copied[1]).to.equal(
      `Your driver Dana comes in a Toyota Prius, blue, plate ABC-1. Follow the car here: ${link}`,
    );
  });

  it('finds a ride by passenger, reference or phone, with links that book it again', async () => {
    const { visitor, owner } = await newDesk(api);
    const { rideId } = await rideIn(api.ctx, 'completed', {
      ...owner,
      passenger: { name: 'Zoë Müller', phone: '+1 202 555 0199' },
      reference: 'Room 412',
    });
    for (const text of ['zoe', '412', '+12025550199']) {
      const { html } = await visitor.get(`/dashboard/desk?find=${encodeURIComponent(text)}`);
      expect(textOf(html), text).to.include(`1 ride with “${text}”`);
      for (const link of ['repeat', 'return', 'tomorrow']) {
        expect(html, text).to.include(`href="/dashboard/desk?${link}=${rideId}"`);
      }
      expect(html).to.include(`href="/dashboard/rides/${rideId}/receipt"`);
    }
    const { html } = await visitor.get('/dashboard/desk?find=nobody');
    expect(textOf(html)).to.include('No ride with “nobody”');
    expect((await visitor.get(`/dashboard/rides/${rideId}`)).html).to.include(`/dashboard/desk?return=${rideId}`);
  });

  it('the wall screen has no navigation and no search, and says what needs a person', async () => {
    const { visitor, owner } = await newDesk(api, 'test');
    await rideIn(api.ctx, 'bidding', owner);
    const { html } = await visitor.get('/dashboard/desk?wall');
    expect(html).not.to.match(/<nav|type="search"|<header/);
    expect(textOf(html)).to.include('1 ride needs you').and.to.include('Test data').and.to.include('Last news');
  });
});
