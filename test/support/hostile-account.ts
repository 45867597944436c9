import { expect } from 'chai';
import { AccountModel } from '../../shared/accounts/account.ts';
import { addPlace, chooseDeskKey } from '../../shared/accounts/desk.ts';
import { newAccountId, newEndpointId } from '../../shared/base/ids.ts';
import { keys } from '../../shared/keys/api-key.ts';
import { addEndpoint } from '../../shared/keys/manage-endpoints.ts';
import { sendTestEvent } from '../../shared/webhooks/test-event.ts';
import { clientOf } from './client.ts';
import { signedIn } from './dashboard.ts';
import { newDriver, rideIn } from './rides.ts';
import type { TestApi } from './service.ts';
import { newInvitation, newMember } from './team.ts';

/** Markup that becomes active if a page inserts it unescaped, between tags or in an attribute. */
export const markup = `"'><xss-alive onclick="alive()">&lt;</xss-alive>`;
/** The same markup in a URL that the service accepts as a webhook URL. */
export const markupUrl = `https://partner.example/hook?q="'><xss-alive/onclick=alive()>`;

/**
 * Text as people type and paste it, and as they attack with it: a script from right to left with a phone number, controls
 * of direction, control characters, markup, and a word that is longer than a line.
 */
export const typedText = `سارة خليل +1 202 555 0100 \u202e\u0000\u000b\u0085 ${markup} ${'w'.repeat(300)}`;

/** Fails if a page contains the markup unescaped. */
export function expectNothingAlive(html: string, where: string): void {
  expect(html, where).not.to.include('<xss-alive');
  // A quotation mark ends an attribute, so the following text would become a new attribute.
  expect(html, where).not.to.include(`"'>`);
  expect(html, where).not.to.match(/(href|src|action)="\s*javascript:/i);
}

export type HostileAccount = Awaited<ReturnType<typeof hostileAccount>>;

/** An account in which every text from partners and drivers is `text`. */
export async function hostileAccount(api: TestApi, text = markup) {
  const visitor = await signedIn(api, `${markup}${newAccountId()}@partner.example`);
  const { account } = visitor;
  const { keyId, key } = await visitor.newKey('test', markup, markupUrl);
  // Forms and commands refuse such names. Pages and mails are safe even so.
  await keys.updateOne({ _id: keyId }, { $set: { name: text } });
  await AccountModel.updateOne({ _id: account._id }, { $set: { deskKeyId: keyId, name: text } });
  const place = { lat: 40.7128, lng: -74.006, address: text };
  const { rideId } = await rideIn(api.ctx, 'in_progress', {
    by: clientOf(api.url, key),
    pickup: place,
    destination: place,
    notes: [...text].slice(0, 200).join(''),
    reference: text.slice(0, 100),
    passenger: { name: text, phone: text },
    webhookUrl: markupUrl,
    offers: [{ driver: newDriver({ name: text, phone: text, vehicle: text, plate: text.slice(0, 60) }) }],
  });
  const colleague = await newMember(account._id, 'desk', `${markup}2@partner.example`);
  const invitation = await newInvitation(api, account, 'finance', `${markup}3@partner.example`);
  await chooseDeskKey(account._id, 'desk key', keyId);
  await addPlace(account._id, 'place', { ...place, name: text });
  const endpointId = newEndpointId();
  const owned = { endpointId, keyId, accountId: account._id };
  await addEndpoint(api.ctx.config, owned, { url: markupUrl, events: ['ride.status'] });
  const attemptId = await sendTestEvent(api.ctx, keyId, { accountId: account._id });
  return {
    account,
    visitor,
    /** The values of the parameters in the dashboard's paths, from this account. Add each new path parameter here. */
    params: {
      keyId,
      endpointId,
      rideId,
      attemptId,
      seq: '1',
      step: 'offer',
      month: new Date().toISOString().slice(0, 7),
      link: 'x'.repeat(22),
      memberId: colleague.id,
      invitationId: invitation.id,
      invitation: invitation.token,
    } as Record<string, string>,
  };
}
