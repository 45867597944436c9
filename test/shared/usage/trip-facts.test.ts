import { expect } from 'chai';
import { newAccountId } from '../../../shared/base/ids.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { tripFacts } from '../../../shared/usage/trip-facts.ts';
import { plansOf } from '../../support/plans.ts';
import { at, newKey, tripsAt, useUsageContext } from '../../support/usage.ts';

describe('the facts of trips for statements', () => {
  useUsageContext();

  it('are those of the account, without erased rides', async () => {
    const [own, other] = [await newKey(), await newKey()];
    const [kept = '', erased = ''] = await tripsAt(own, 5, at('2026-11-05 10:00'), at('2026-11-05 11:00'));
    const [foreign = ''] = await tripsAt(other, 5, at('2026-11-05 10:00'));
    await rides.updateOne({ _id: kept }, { $set: { reference: 'RES-20332' } });
    await rides.updateOne({ _id: erased }, { $set: { erasedAt: new Date() } });
    const found = await tripFacts([kept, erased, foreign, 'ride_deleted'], own);
    expect([...found.keys()]).to.deep.equal([kept]);
    expect(found.get(kept)).to.deep.equal({
      reference: 'RES-20332',
      pickup: { lat: 40.758, lng: -73.9855 },
      destination: { lat: 40.7128, lng: -74.006 },
    });
    expect(await tripFacts([], { accountId: newAccountId() })).to.deep.equal(new Map());
  });

  it('are read by ride id, one ride for each trip', async () => {
    const key = await newKey();
    const ids = await tripsAt(key, 5, ...Array.from({ length: 20 }, () => at('2026-11-05 10:00')));
    const [plan] = await plansOf(() => tripFacts(ids.slice(0, 3), key));
    expect(plan?.stages).to.include('IXSCAN');
    expect(plan?.executionStats.totalDocsExamined).to.equal(3);
    expect(plan?.executionStats.totalKeysExamined).to.be.at.most(6);
  });
});
