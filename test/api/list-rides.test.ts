import { expect } from 'chai';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { rides } from '../../shared/rides/ride.ts';
import { newRide, rideIn } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';

describe('GET /rides', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'live');

  const make = (wish: object = {}) => newRide(api.ctx, { keyId: partner.keyId, ...wish });
  const makeSome = async (count: number) => {
    const made = [];
    for (let number = 0; number < count; number++) made.push(await make());
    return made;
  };
  const idsOf = ({ body }: { body: { rides: { rideId: string }[] } }) => body.rides.map(({ rideId }) => rideId);
  const idsAt = async (query: string) => idsOf(await partner.get(`/rides?${query}`));
  const newestFirst = (ids: string[]) => [...ids].sort().reverse();

  it('the list shows each ride as retrieve does, without liveLocation and with createdAt', async () => {
    const { rideId } = await rideIn(api.ctx, 'arrived', { by: partner });
    const { liveLocation, ...retrieved } = (await partner.get(`/rides/${rideId}`)).body;
    const { status, body } = await partner.get('/rides');
    const { createdAt } = (await rides.findOne({ _id: rideId })) ?? {};
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      rides: [{ ...retrieved, createdAt: createdAt?.getTime() }],
      nextCursor: null,
    });
  });

  it('the list is empty for a key without rides, and needs a key', async () => {
    expect((await partner.get('/rides')).body).to.deep.equal({ rides: [], nextCursor: null });
    expect((await partner.get('/rides', { authorization: 'Bearer nothing' })).status).to.equal(401);
  });

  it("the list shows no ride of another key, even if the query names that ride's cursor or reference", async () => {
    const stranger = await api.partner('live');
    const foreign = await newRide(api.ctx, { keyId: stranger.keyId, reference: 'Room 12' });
    for (const query of ['', 'reference=Room%2012', `cursor=${foreign}`]) {
      expect(await idsAt(query), query).to.deep.equal([]);
    }
  });

  it('the pages show every ride once, newest first, while others are created and change their status', async () => {
    const made = await makeSome(7);
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await partner.get(`/rides?limit=3&createdBefore=${Date.now() + 60_000}&cursor=${cursor}`);
      seen.push(...idsOf({ body }));
      cursor = body.nextCursor ?? '';
      await make();
      await applyAction(api.ctx, made[0] ?? '', { action: 'cancel', by: 'partner' }, 'anyone').catch(() => {});
    } while (cursor && seen.length < 20);
    expect(seen).to.deep.equal(newestFirst(made));
    expect(await idsAt(`createdBefore=1&cursor=${made[4]}`)).to.deep.equal([]);
  });

  it('the pages do not repeat or skip a ride if an older ride is inserted late', async () => {
    const [first, late, ...others] = await makeSome(6);
    const kept = await rides.findOneAndDelete({ _id: late });
    const { body } = await partner.get('/rides?limit=2');
    await rides.insertOne(kept as NonNullable<typeof kept>);
    const rest = await idsAt(`cursor=${body.nextCursor}`);
    expect([...body.rides.map(({ rideId }: { rideId: string }) => rideId), ...rest]).to.deep.equal(
      newestFirst([first, late, ...others] as string[]),
    );
  });

  it('the list filters by status, reference and times, separately and combined', async () => {
    const [a, b, c] = [await make({ reference: 'A' }), await make({ reference: 'B' }), await make({ reference: 'A' })];
    await applyAction(api.ctx, c, { action: 'cancel', by: 'partner' }, 'anyone');
    const createdAt = async (rideId: string) => (await rides.findOne({ _id: rideId }))?.createdAt.getTime() ?? 0;
    await rides.updateOne({ _id: a }, { $set: { status: 'completed' } });
    expect(await idsAt('reference=A')).to.deep.equal(newestFirst([a, c]));
    expect(await idsAt('reference=a')).to.deep.equal([]);
    expect(await idsAt('status=cancelled')).to.deep.equal([c]);
    expect(await idsAt('status=cancelled&reference=B')).to.deep.equal([]);
    expect(await idsAt('status=bidding&reference=B')).to.deep.equal([b]);
    expect(await idsAt(`createdAfter=${(await createdAt(c)) + 1}`)).to.deep.equal([]);
    expect(await idsAt(`createdAfter=${await createdAt(a)}`)).to.deep.equal(newestFirst([a, b, c]));
    expect(await idsAt(`createdBefore=${await createdAt(a)}`)).to.deep.equal([]);
    expect(await idsAt(`createdBefore=${(await createdAt(c)) + 1}&createdAfter=0&limit=1`)).to.deep.equal([c]);
    expect(await idsAt('status=&createdAfter=&createdBefore=&reference=&limit=&cursor=')).to.have.lengthOf(3);
  });

  const refused: [query: string, named: string][] = [
    ['status=bidding&status=arrived', 'status'],
    ['createdAfter=yesterday', 'createdAfter'],
    ['createdAfter=1795269600', 'createdAfter'],
    ['createdBefore=100000000000000', 'createdBefore'],
    [`reference=${'x'.repeat(65)}`, 'reference'],
    ['limit=0', 'limit'],
    ['cursor=ride_x', 'cursor'],
    ['cursor[$gt]=&cursor=x', 'cursor'],
  ];
  for (const [query, named] of refused) {
    it(`the list answers 400 and names the invalid parameter for ?${query.slice(0, 40)}`, async () => {
      const { status, body } = await partner.get(`/rides?${query}`);
      expect(status).to.equal(400);
      expect(body.error.startsWith(`${named} must`), body.error).to.equal(true);
    });
  }
});
