import { expect } from 'chai';
import { listKeys, revokeKey } from '../../../shared/keys/manage-keys.ts';
import { newFormId, signedIn } from '../../support/dashboard.ts';
import { useKeyPages } from '../../support/key-pages.ts';
import { formIn } from '../../support/pages.ts';
import { testConfig } from '../../support/service.ts';

describe('the dashboard: limit of active keys per account', () => {
  const { api, visitor, owner, textOf, create, activeKeys } = useKeyPages({ MAX_KEYS_PER_ACCOUNT: '3' });

  it('an account may have 20 active keys by default', () => expect(testConfig().maxKeysPerAccount).to.equal(20));

  it('concurrent creations do not exceed the limit of active keys', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => create({ name: `key ${index}` })));
    const [made, refused] = [200, 422].map((status) => answers.filter((answer) => answer.status === status));
    expect([made?.length, refused?.length]).to.deep.equal([3, 9]);
    expect(await activeKeys()).to.have.length(3);
    for (const { html } of refused ?? []) {
      expect(html).to.match(/<title>Error: /);
      expect(html).to.include('This account has 3 active keys, the most it can have.');
      expect(html).not.to.include('new-key');
    }
  });

  it('keys from the command line count as active keys, but revoked keys do not', async () => {
    const first = await visitor.newKey();
    for (const name of ['one', 'two']) expect((await create({ name })).status).to.equal(200);
    expect((await create({ name: 'three' })).status).to.equal(422);
    expect(formIn((await visitor.get('/dashboard/keys/new')).html, '/dashboard/keys')).to.equal(undefined);
    await revokeKey(first.keyId, owner());
    const answers = await Promise.all(['three', 'four', 'five'].map((name) => create({ name })));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 422, 422]);
    expect(await activeKeys()).to.have.length(3);
    const [oldest] = await activeKeys();
    await revokeKey(oldest?._id ?? '', owner());
    expect((await create({ name: 'six' })).status).to.equal(200);
  });

  it('a repeated form whose key exists is not refused at the limit of active keys', async () => {
    const formId = newFormId();
    const first = await create({ formId });
    for (const name of ['two', 'three']) await create({ name });
    expect(textOf((await create({ formId })).html, 'new-key')).to.equal(textOf(first.html, 'new-key'));
  });

  it('the limit of active keys applies neither to the operator nor to other accounts', async () => {
    for (let made = 0; made < 5; made += 1) await visitor.newKey();
    expect(await activeKeys()).to.have.length(5);
    expect((await create()).status).to.equal(422);
    const other = await signedIn(api);
    expect((await other.post('/dashboard/keys', { name: 'Front desk', mode: 'test' })).status).to.equal(200);
  });
});

describe('limit of new keys per account', () => {
  const settings = { NEW_KEYS_PER_DAY: '3', MAX_KEYS_PER_ACCOUNT: '2' };
  const { visitor, owner, create, activeKeys } = useKeyPages(settings);
  const revokeAll = async () => {
    for (const { _id } of await activeKeys()) await revokeKey(_id, owner());
  };

  it('an account may create 20 keys in 24 hours by default', () => expect(testConfig().newKeysPerDay).to.equal(20));

  it('the limit counts revoked keys and concurrent forms, and the page shows when the next key is possible', async () => {
    for (let made = 0; made < 2; made++) expect((await create()).status).to.equal(200);
    await revokeAll();
    const answers = await Promise.all(Array.from({ length: 5 }, () => create()));
    const [made, refused] = [200, 429].map((status) => answers.filter((answer) => answer.status === status));
    expect([made?.length, refused?.length]).to.deep.equal([1, 4]);
    expect(await listKeys(owner())).to.have.length(3);
    for (const { html, headers } of refused ?? []) {
      expect(html).to.include('This account has created 3 keys in the last 24 hours, the most it can.');
      expect(html).to.match(/The next one is possible on <time[^>]*>20[\d :-]{17} UTC<\/time>, in about 24 hours\./);
      expect(Number(headers.get('retry-after'))).to.be.within(86_000, 86_400);
      expect(headers.get('x-service-error')).to.equal('rate_limited');
    }
  });

  it('repeated forms, refused forms and keys from the command line do not count as new keys', async () => {
    const formId = newFormId();
    for (let sent = 0; sent < 4; sent++) expect((await create({ formId })).status).to.equal(200);
    await create();
    // The account has reached its limit of two active keys.
    for (let sent = 0; sent < 4; sent++) expect((await create()).status).to.equal(422);
    await revokeAll();
    for (let made = 0; made < 4; made++) {
      await revokeKey((await visitor.newKey()).keyId, owner());
    }
    expect((await create()).status).to.equal(200);
    await revokeAll();
    expect((await create()).status).to.equal(429);
  });
});
