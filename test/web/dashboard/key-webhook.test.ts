import { expect } from 'chai';
import { deliverySettings, settingsMaxAgeMs } from '../../../shared/keys/delivery-settings.ts';
import { endpointsOf } from '../../../shared/keys/endpoints.ts';
import { clientOf } from '../../support/client.ts';
import { useKeyPages } from '../../support/key-pages.ts';
import { storedRide } from '../../support/stored-rides.ts';

describe('the dashboard: the webhook of a key', () => {
  const { api, visitor, audited, expectFault } = useKeyPages();

  const save = (keyId: string, webhookUrl: string) =>
    visitor.post(`/dashboard/keys/${keyId}/webhook-url`, { webhookUrl });
  const saved = async (keyId: string) => (await deliverySettings(api.ctx.config, keyId)).webhookUrl;

  it('the form saves a webhook URL, and removes it if the field is empty', async () => {
    const { keyId } = await visitor.newKey();
    for (const typed of ['https://partner.example/hook', ' https://partner.example/hook ']) {
      const { status, headers } = await save(keyId, typed);
      expect([status, headers.get('location')]).to.deep.equal([303, `/dashboard/keys/${keyId}?done=url-saved`]);
      expect(await saved(keyId)).to.equal('https://partner.example/hook');
    }
    const { html } = await visitor.get(`/dashboard/keys/${keyId}?done=url-saved`);
    expect(html).to.include('value="https://partner.example/hook"').and.include('Saved.');
    expect((await save(keyId, '')).headers.get('location')).to.include('done=url-removed');
    expect(await saved(keyId)).to.equal(undefined);
    expect(await audited()).to.deep.equal(['webhook_url_set', 'webhook_url_set']);
  });

  it('a change of the webhook URL is confirmed only when no more requests can go to the old URL', async () => {
    const { keyId } = await visitor.newKey('test', 'Front desk', 'https://partner.example/before');
    for (const typed of ['https://partner.example/hook', 'https://partner.example/hook', '']) {
      const startedAt = performance.now();
      await save(keyId, typed);
      expect(performance.now() - startedAt).to.be.at.least(settingsMaxAgeMs);
    }
  });

  const refused: [url: string, words: RegExp][] = [
    ['http://partner.example/', /must be an https URL/],
    ['https://127.0.0.1/', /not public/],
    ['nonsense', /must be a valid URL/],
  ];
  for (const [url, words] of refused) {
    it(`the form refuses the webhook URL ${url} with the API's message, and keeps the typed text`, async () => {
      const { keyId } = await visitor.newKey('test', 'Front desk', 'https://partner.example/before');
      expectFault(await save(keyId, url), 'webhookUrl', url, words);
      expect(await saved(keyId)).to.equal('https://partner.example/before');
      expect(await audited()).to.deep.equal([]);
    });
  }

  it('the deletion of a further endpoint is recorded once, however many tabs delete it', async () => {
    const { keyId } = await visitor.newKey();
    const path = `/dashboard/keys/${keyId}/endpoints`;
    const fields = { url: 'https://partner.example/second', events: 'ride.status' };
    const endpointId = (await visitor.post(path, fields)).headers.get('location')?.split('/').at(-1);
    for (const id of [endpointId, endpointId, 'endpoint_unknown']) {
      const { headers } = await visitor.post(`${path}/${id}/delete`);
      expect(headers.get('location')).to.equal(`/dashboard/keys/${keyId}?done=endpoint-deleted`);
    }
    expect(await audited()).to.deep.equal(['endpoint_added', 'endpoint_deleted']);
    expect(await endpointsOf(keyId)).to.deep.equal([]);
  });

  it('the form saves whether passengers are texted, and new rides of the key follow it', async () => {
    const { keyId, key } = await visitor.newKey();
    const save = (texting: string) => visitor.post(`/dashboard/keys/${keyId}/texting`, { texting });
    const notifyOf = async (wish: object) => {
      const { body } = await clientOf(api.url, key).createRide(wish);
      return (await storedRide(body.rideId)).notify;
    };
    const guest = { passenger: { phone: '+12025550143' } };
    expect(await notifyOf(guest)).to.equal(undefined);
    for (let time = 0; time < 2; time += 1) {
      expect((await save('yes')).headers.get('location')).to.equal(`/dashboard/keys/${keyId}?done=texting-on`);
    }
    expect((await visitor.get(`/dashboard/keys/${keyId}?done=texting-on`)).html).to.match(
      /Saved\. Passengers of new rides/,
    );
    expect(await notifyOf(guest)).to.deep.equal({ passenger: true });
    expect(await notifyOf({ ...guest, notify: { passenger: false } })).to.deep.equal({ passenger: false });
    const contacts = [{ phone: '+12025550144' }];
    expect(await notifyOf({ ...guest, notify: { contacts } })).to.deep.equal({ passenger: true, contacts });
    // The partner did not ask for texts, so any phone number is still accepted.
    expect(await notifyOf({ passenger: { phone: 'room 12' } })).to.equal(undefined);
    await save('no');
    expect(await notifyOf(guest)).to.equal(undefined);
    expect((await save('perhaps')).status).to.equal(422);
    expect(await audited()).to.deep.equal(['texting_set', 'texting_set']);
  });

  const send = (keyId: string) => visitor.post(`/dashboard/keys/${keyId}/test-event`);

  it('a test event without a webhook URL is refused', async () => {
    const { keyId } = await visitor.newKey();
    expectFault(await send(keyId), 'webhookUrl', '', /Save a default webhook URL first/);
  });

  it('each of ten test events redirects to its attempt, and the eleventh in a minute gets a 429 as a page', async () => {
    const { keyId } = await visitor.newKey('test', 'Front desk', 'https://partner.example/hook');
    for (let sent = 0; sent < 10; sent += 1) {
      expect((await send(keyId)).headers.get('location')).to.match(/^\/dashboard\/deliveries\/att_\w+$/);
    }
    const { status, html, headers } = await send(keyId);
    expect(status).to.equal(429);
    expect(headers.get('retry-after')).to.match(/^\d+$/);
    expect(html).to.include('At most 10 test events a minute').and.include('Send test event');
  });
});
