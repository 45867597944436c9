import { expect } from 'chai';
import { rides } from '../../shared/rides/ride.ts';
import { monthOf } from '../../shared/usage/days.ts';
import type { Client } from '../support/client.ts';
import { rideIn } from '../support/rides.ts';
import { useTestApi } from '../support/service.ts';

describe('statements and usage over the API', () => {
  const api = useTestApi();
  const thisMonth = () => monthOf(new Date(api.ctx.now()));

  for (const mode of ['live', 'test'] as const) {
    describe(`with a ${mode} key`, () => {
      let partner: Client & { key: string; keyId: string };
      let completed: string[];

      beforeEach(async () => {
        partner = await api.partner(mode);
        completed = [];
        for (let index = 0; index < 3; index++) {
          const fare = 20.5 + index;
          const offers = [{ price: fare }];
          const { rideId } = await rideIn(api.ctx, 'completed', {
            by: partner,
            fare,
            offers,
            reference: `room ${index}`,
          });
          completed.push(rideId);
        }
        await rideIn(api.ctx, 'cancelled', { by: partner });
        await rideIn(api.ctx, 'completed', { by: await api.partner(mode) });
      });

      it('lists the month, with its completed rides and their sum', async () => {
        const list = await partner.get('/statements');
        expect(list.body.statements[0]).to.deep.equal({ month: thisMonth(), closed: false });
        const { body } = await partner.get(`/statements/${thisMonth()}`);
        expect(body).to.deep.include({ trips: 3, total: 64.5, closed: false, nextCursor: null });
        expect(body.lines.map(({ rideId }: { rideId: string }) => rideId)).to.deep.equal(completed);
        expect(body.lines[1]).to.deep.include({ agreedPrice: 21.5, reference: 'room 1' });
      });

      it('pages show each ride once, also rides that ended at the same time', async () => {
        const statusAt = new Date(api.ctx.now());
        await rides.updateMany({ _id: { $in: completed } }, { $set: { statusAt } });
        const seen: string[] = [];
        for (let cursor: string | null = ''; cursor !== null; ) {
          const { body } = await partner.get(`/statements/${thisMonth()}?limit=1&cursor=${cursor}`);
          expect(body).to.deep.include({ trips: 3, total: 64.5 });
          seen.push(...body.lines.map(({ rideId }: { rideId: string }) => rideId));
          cursor = body.nextCursor;
        }
        expect(seen).to.deep.equal([...completed].sort());
      });

      it('the CSV file has the same rides', async () => {
        const { text, headers } = await partner.get(`/statements/${thisMonth()}/trips.csv`);
        expect(headers.get('content-type')).to.equal('text/csv; charset=utf-8; header=present');
        const [head, ...rows] = text.trimEnd().split('\r\n');
        expect(head).to.equal('Ride ID,Ended (UTC),Key ID,Key name,Agreed price (USD),Reference,From,To');
        expect(rows.map((row) => row.split(',')[0])).to.deep.equal(completed);
        expect(rows[2]).to.include(`,${partner.keyId},`).and.to.include(',22.50,room 2,');
      });

      it('usage counts the rides that were created with the key on each day', async () => {
        const { body } = await partner.get('/usage');
        expect(body.days).to.have.length(30);
        expect(body.rides).to.equal(4);
        expect(body.days.at(-1).rides).to.equal(4);
        const day = body.days.at(-1).day;
        const { body: one } = await partner.get(`/usage?from=${day}&to=${day}`);
        expect(one).to.deep.equal({ rides: 4, days: [{ day, rides: 4 }] });
      });
    });
  }

  it('a wrong month, day, cursor or period gets a 400 that names the field', async () => {
    const partner = await api.partner();
    for (const [path, field] of [
      ['/statements/2026-13', 'month'],
      ['/statements/2026-13/trips.csv', 'month'],
      ['/statements/2026-11?cursor=x', 'cursor'],
      ['/usage?from=yesterday', 'from'],
      ['/usage?from=2026-02-30', 'from'],
      ['/usage?from=2026-11-02&to=2026-11-01', 'from'],
      ['/usage?from=2024-11-02&to=2026-11-01', 'from'],
    ] as const) {
      const { status, headers } = await partner.get(path);
      expect([path, status, headers.get('x-service-error-field')]).to.deep.equal([path, 400, field]);
    }
  });
});
