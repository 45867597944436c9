import { expect } from 'chai';
import { chooseDeskKey } from '../../../shared/accounts/desk.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import type { BoardState } from '../../../web/desk/board-state.ts';
import { newFormId, signedIn, type Visitor } from '../../support/dashboard.ts';
import { newDesk } from '../../support/desk.ts';
import { type EventStream, endOf, nextOf, useEventStreams } from '../../support/event-stream.ts';
import { plansOf } from '../../support/plans.ts';
import { newRide, offerOn } from '../../support/rides.ts';
import { useTestApi } from '../../support/service.ts';

describe("the stream of a desk's board", () => {
  const api = useTestApi();
  const open = useEventStreams();

  const follow = ({ cookie }: Visitor) => open(`${api.url}/dashboard/desk/events`, { cookie });
  const nextWith: (stream: EventStream, isWanted: (state: BoardState) => boolean) => Promise<BoardState> = nextOf;
  const rowsIn = ({ html }: BoardState) =>
    [...html.matchAll(/id="board-(ride_\w+)" class="board-ride"/g)].map(([, id]) => id);
  const has = (rideId: string) => (state: BoardState) => state.order.some(([id]) => id === `board-${rideId}`);

  it('sends each new ride and each change, with only the rows that have changed', async () => {
    const { visitor, owner } = await newDesk(api);
    const before = await newRide(api.ctx, owner);
    const stream = await follow(visitor);
    const first: BoardState = await stream.next();
    expect(has(before)(first)).to.equal(true);
    expect(rowsIn(first)).to.deep.equal([]);
    const rideId = await newRide(api.ctx, { ...owner, passenger: { name: 'Ada' } });
    const added = await nextWith(stream, has(rideId));
    expect(rowsIn(added)).to.deep.equal([rideId]);
    expect(added).to.include({ concerns: 0 });
    const { offerId } = await offerOn(api.ctx, rideId);
    const offered = await nextWith(stream, ({ concerns }) => concerns === 1);
    expect(offered.order[0]?.[0]).to.equal('board-concerns');
    expect(rowsIn(offered)).to.deep.equal([rideId]);
    await applyAction(api.ctx, rideId, { action: 'accept', offerId }, 'anyone');
    await nextWith(stream, ({ concerns }) => concerns === 0);
    await applyAction(api.ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
    await nextWith(stream, (state) => !has(rideId)(state));
  });

  it('ten boards of one key get the same news from one reading', async () => {
    const { visitor, owner } = await newDesk(api);
    const streams = await Promise.all(Array.from({ length: 10 }, () => follow(visitor)));
    // A reading that began while the boards were opened is sent only to those that were open.
    const earlier = await newRide(api.ctx, owner);
    for (const stream of streams) await nextWith(stream, has(earlier));
    let rideId = '';
    const plans = await plansOf(async () => {
      rideId = await newRide(api.ctx, owner);
      const states = await Promise.all(streams.map((stream) => nextWith(stream, has(rideId))));
      expect(new Set(states.map((state) => JSON.stringify(state))).size).to.equal(1);
    });
    // One reading has four queries. A poll may come in between.
    expect(plans.length).to.be.at.most(12);
  });

  it('ends when the desk gets a key or another key, and the next stream names the new key', async () => {
    const visitor = await signedIn(api);
    const accountId = visitor.account._id;
    let of = accountId;
    for (const mode of ['test', 'live'] as const) {
      const stream = await follow(visitor);
      expect((await stream.next()).of).to.equal(of);
      const { keyId } = await visitor.newKey(mode);
      await chooseDeskKey(accountId, newFormId(), keyId);
      await endOf(stream);
      of = keyId;
      const { html } = await visitor.get('/dashboard/desk/state');
      expect(JSON.parse(html).of).to.equal(of);
    }
  });

  it('another account gets no news of a board', async () => {
    const [one, two] = [await newDesk(api), await newDesk(api)];
    const stream = await follow(two.visitor);
    await stream.next();
    const foreign = await newRide(api.ctx, one.owner);
    const own = await newRide(api.ctx, two.owner);
    const state = await nextWith(stream, has(own));
    expect(has(foreign)(state)).to.equal(false);
  });
});
