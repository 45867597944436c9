import { expect } from 'chai';
import { AccountModel } from '../../../shared/accounts/account.ts';
import { auditOf } from '../../../shared/accounts/audit.ts';
import { mostPlaces, readDesk } from '../../../shared/accounts/desk.ts';
import { revokeKey } from '../../../shared/keys/manage-keys.ts';
import { newFormId, signedIn } from '../../support/dashboard.ts';
import { deskPath, useTestDesk } from '../../support/test-desk.ts';

const path = `${deskPath}/places`;

describe('the saved places of a desk', () => {
  const { api, visitor, key } = useTestDesk();

  const desk = () => readDesk(visitor.account._id);
  const names = async () => (await desk()).places.map(({ name }) => name);
  const idOf = async (name: string) => (await desk()).places.find((place) => place.name === name)?.id ?? '';
  const pier = { name: 'Pier 83', address: 'W 42nd St', at: '40.7631, -74.0014' };

  it('adds a place, lists it, and suggests it at the desk with the default pickup first', async () => {
    expect((await visitor.post(path, pier)).status).to.equal(303);
    expect(await names()).to.deep.equal(['Grand Hotel', 'Penn Station', 'Pier 83']);
    expect((await desk()).places[2]).to.deep.include({ address: 'W 42nd St', lat: 40.7631, lng: -74.0014 });
    expect((await visitor.get(path)).html)
      .to.include('Pier 83')
      .and.include('default pickup');
    await visitor.post(`${path}/default`, { id: await idOf('Pier 83') });
    const { html } = await visitor.get(deskPath);
    expect([...html.matchAll(/<option value="([^"]+)" label/g)].map(([, name]) => name)[0]).to.equal('Pier 83');
    expect(html).to.match(/<input id="from"[^>]*value="Pier 83"/);
  });

  it('the first place of an account becomes the default pickup', async () => {
    const other = await signedIn(api);
    await other.post(path, pier);
    expect((await readDesk(other.account._id)).defaultPlace?.name).to.equal('Pier 83');
  });

  it('changes a place and keeps its id', async () => {
    const id = await idOf('Penn Station');
    const { html } = await visitor.get(`${path}?edit=${id}`);
    expect(html).to.include('value="Penn Station"').and.include('Save place');
    const changes = { id, name: 'Moynihan Hall', at: '40.7516, -73.9956', address: '' };
    expect((await visitor.post(path, changes)).status).to.equal(303);
    expect(await idOf('Moynihan Hall')).to.equal(id);
    expect(await names()).to.deep.equal(['Grand Hotel', 'Moynihan Hall']);
  });

  it('a removed place is gone, and a form that is sent again does not add it a second time', async () => {
    const form = { ...pier, formId: newFormId() };
    await visitor.post(path, form);
    await visitor.post(`${path}/remove`, { id: await idOf('Pier 83') });
    expect((await visitor.post(path, form)).status).to.equal(303);
    expect(await names()).to.deep.equal(['Grand Hotel', 'Penn Station']);
  });

  it('refuses a name that another place has, in any case, and keeps everything typed', async () => {
    const { status, html } = await visitor.post(path, { ...pier, name: 'grand hotel' });
    expect(status).to.equal(422);
    expect(html).to.include('Another place has this name').and.include('value="W 42nd St"');
    const both = await Promise.all([visitor.post(path, pier), visitor.post(path, pier)]);
    expect(both.map((answer) => answer.status).sort()).to.deep.equal([303, 422]);
  });

  for (const [title, changes, words] of [
    ['without a name', { name: ' ' }, 'Enter a name'],
    ['with a long name', { name: 'x'.repeat(61) }, 'Enter a name'],
    ['without a position', { at: 'Main Street' }, 'Enter coordinates'],
    ['with a position that is not on earth', { at: '95, 95' }, 'Enter coordinates'],
  ] as const) {
    it(`refuses a place ${title}`, async () => {
      const { status, html } = await visitor.post(path, { ...pier, ...changes });
      expect([status, html.includes(words)]).to.deep.equal([422, true]);
      expect(await names()).to.have.length(2);
    });
  }

  it('a name that differs from another one only in case is refused in every script', async () => {
    for (const [name, again] of [
      ['Вокзал', 'ВОКЗАЛ'],
      ['Οδός Ερμού', 'ΟΔΌΣ ΕΡΜΟΎ'],
      ['Zürich Straße', 'ZÜRICH STRASSE'],
    ] as const) {
      expect((await visitor.post(path, { ...pier, name })).status).to.equal(303);
      expect((await visitor.post(path, { ...pier, name: again })).status, again).to.equal(422);
      expect(await names())
        .to.include(name)
        .and.not.include(again);
    }
  });

  it('an account has at most 200 places, even if forms are sent at the same time', async () => {
    const places = Array.from({ length: mostPlaces - 1 }, (_, index) => ({
      ...{ id: `place_${index}`, name: `Place ${index}` },
      ...{ lat: 40, lng: -74 },
    }));
    await AccountModel.updateOne({ _id: visitor.account._id }, { $set: { places } });
    const forms = ['A', 'B', 'C'].map((name) => visitor.post(path, { ...pier, name }));
    expect((await Promise.all(forms)).map(({ status }) => status).sort()).to.deep.equal([303, 422, 422]);
    expect((await desk()).places).to.have.length(mostPlaces);
    expect((await visitor.post(path, { ...pier, name: 'D' })).html).to.include('200 places, the most');
  });

  it('the settings choose an active key of the account, and the audit list names the choice', async () => {
    const live = await visitor.newKey('live', 'Night desk');
    const { html } = await visitor.get(`${deskPath}/settings`);
    expect(html)
      .to.match(new RegExp(`value="${key.keyId}"[^>]*checked`))
      .and.include('Night desk');
    const { status } = await visitor.post(`${deskPath}/settings`, { key: live.keyId });
    expect(status).to.equal(303);
    expect((await desk()).keyId).to.equal(live.keyId);
    const [entry] = await auditOf(visitor.account._id, 1);
    expect(entry).to.include({ action: 'desk_key_chosen', keyId: live.keyId, member: visitor.account.email });
  });

  it('the settings refuse a revoked key and a key of another account', async () => {
    const revoked = await visitor.newKey();
    await revokeKey(revoked.keyId, 'anyone');
    const foreign = await (await signedIn(api)).newKey();
    for (const { keyId } of [revoked, foreign]) {
      const { status, html } = await visitor.post(`${deskPath}/settings`, { key: keyId });
      expect([status, html.includes('Choose one of the active keys')]).to.deep.equal([422, true]);
    }
    expect((await desk()).keyId).to.equal(key.keyId);
  });
});
