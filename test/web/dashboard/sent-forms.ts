import { expect } from 'chai';
import { dashboardBase } from '../../../api/dashboard/dashboard-part.ts';
import { accountOf, accounts, accountsWith, founderIdOf } from '../../../shared/accounts/account.ts';
import { auditOf } from '../../../shared/accounts/audit.ts';
import { completeTeam } from '../../../shared/accounts/change-team.ts';
import { addPlace, chooseDeskKey, readDesk } from '../../../shared/accounts/desk.ts';
import { LimitModel } from '../../../shared/accounts/limit.ts';
import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import { livingSessions, SessionModel, startSession } from '../../../shared/accounts/session.ts';
import type { Context } from '../../../shared/base/context.ts';
import { derivedPlaceId, sha256 } from '../../../shared/base/ids.ts';
import { type ApiKey, keys } from '../../../shared/keys/api-key.ts';
import { settingsFor } from '../../../shared/keys/delivery-settings.ts';
import { endpointsOf } from '../../../shared/keys/endpoints.ts';
import { addEndpoint } from '../../../shared/keys/manage-endpoints.ts';
import { openMail } from '../../../shared/mail/mail.ts';
import { mails } from '../../../shared/mail/mail-row.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { attempts } from '../../../shared/webhooks/attempts.ts';
import { clientOf, validRide } from '../../support/client.ts';
import { newFormId, type PageAnswer, signedIn, type Visitor, visitorOf } from '../../support/dashboard.ts';
import { scaled } from '../../support/machine-speed.ts';
import { codeSentTo, linkSentTo, mailsTo, someone } from '../../support/mails.ts';
import { useMongoProxy } from '../../support/mongo-proxy.ts';
import { type RideWish, rideIn } from '../../support/rides.ts';
import { useTestApi } from '../../support/service.ts';
import { newInvitation, newMember, storedAccount } from '../../support/team.ts';

/** What the forms of a part change. Each part is tested in its own file, because these tests take longest. */
export type Part = 'account' | 'rides' | 'signIn' | 'team';

/** An account with what the forms of a part change. The fields of the other parts are empty. */
interface World {
  ctx: Context;
  visitor: Visitor;
  key: ApiKey;
  /** The token of a session in another browser. */
  otherSession: string;
  /** A browser that has opened the sign-in page, for an address without an account. */
  newBrowser(): Promise<Visitor>;
  /** Of `signIn`: the code of the newest mail, and the token of its link. */
  code: string;
  link: string;
  /** Of `rides`: a bidding ride with an offer, and a ride with a failed event. */
  rideId: string;
  offerId: string;
  failedRideId: string;
  /** Of `team`: a member and an invitation of the account. */
  memberId: string;
  invitationId: string;
  /** Another account of the same person, and the token of an invitation to a third one. */
  otherAccountId: string;
  invitation: string;
}

/** A form: the status of its answer, its fields, and the parameters of its path. */
interface FormCase {
  status: number;
  fields?: (world: World) => Record<string, string>;
  params?: (world: World) => Record<string, string>;
  prepare?: (world: World) => Promise<unknown>;
  /** Set if the form is idempotent even without a form id. */
  needsNoId?: true;
}

/** A form of a further endpoint of the key. */
const ofEndpoint = {
  params: ({ key }: World) => ({ endpointId: `endpoint_of_${key._id}` }),
  prepare: ({ ctx, key: { _id: keyId, accountId } }: World) =>
    addEndpoint(
      ctx.config,
      { endpointId: `endpoint_of_${keyId}`, keyId, accountId },
      { url: 'https://partner.example/second', events: ['ride.status'] },
    ),
};

/** Every form of the dashboard. */
export const cases: Record<Part, Record<string, FormCase>> = {
  account: {
    '/sign-out': { status: 303, needsNoId: true },
    '/sign-out-everywhere': { status: 303 },
    '/account/end-session': {
      status: 303,
      fields: ({ otherSession }) => ({ session: sha256(otherSession) }),
    },
    '/keys': { status: 200, fields: () => ({ name: 'Night desk', mode: 'live' }) },
    '/keys/:keyId/name': { status: 303, fields: () => ({ name: 'Night desk' }) },
    '/keys/:keyId/webhook-url': { status: 303, fields: () => ({ webhookUrl: 'https://partner.example/other' }) },
    '/keys/:keyId/endpoints': {
      status: 303,
      fields: () => ({ url: 'https://partner.example/second', events: 'ride.status' }),
    },
    '/keys/:keyId/endpoints/:endpointId/test-event': { status: 303, ...ofEndpoint },
    '/keys/:keyId/endpoints/:endpointId/turn-off': { status: 303, ...ofEndpoint },
    '/keys/:keyId/endpoints/:endpointId/turn-on': { status: 303, ...ofEndpoint },
    '/keys/:keyId/endpoints/:endpointId/signing-secret': { status: 200, ...ofEndpoint },
    '/keys/:keyId/endpoints/:endpointId/roll-secret': { status: 200, ...ofEndpoint, fields: () => ({ seen: '0' }) },
    '/keys/:keyId/endpoints/:endpointId/delete': { status: 303, ...ofEndpoint },
    '/keys/:keyId/texting': { status: 303, fields: () => ({ texting: 'yes' }) },
    '/keys/:keyId/test-event': { status: 303 },
    '/keys/:keyId/signing-secret': { status: 200 },
    '/keys/:keyId/roll-secret': { status: 200, fields: () => ({ seen: '0' }) },
    '/keys/:keyId/rotate': { status: 200, fields: () => ({ seen: '0' }) },
    '/keys/:keyId/revoke': { status: 303 },
    '/desk/hint': { status: 200, needsNoId: true },
    '/desk/search': { status: 404, needsNoId: true },
    '/desk/settings': { status: 303, fields: ({ key }) => ({ key: key._id }) },
    '/desk/places': { status: 303, fields: () => ({ name: 'Front door', at: '40.7128, -74.006' }) },
    '/desk/places/default': { status: 303, prepare: twoPlaces, fields: () => ({ id: derivedPlaceId('second') }) },
    '/desk/places/remove': { status: 303, prepare: twoPlaces, fields: () => ({ id: derivedPlaceId('second') }) },
  },
  rides: {
    '/rides/:rideId/accept': { status: 303, fields: ({ offerId }) => ({ offerId }) },
    '/rides/:rideId/cancel': { status: 303 },
    '/rides/:rideId/events/:seq/send-again': {
      status: 303,
      params: ({ failedRideId }) => ({ rideId: failedRideId, seq: '1' }),
    },
    '/desk': {
      status: 303,
      prepare: ({ visitor, key }) => chooseDeskKey(visitor.account._id, 'desk key', key._id),
      fields: ({ key }) => ({ key: key._id, from: '40.7128, -74.006', to: '40.758, -73.9855', fare: '25', ...ofDesk }),
    },
    '/desk/rides/:rideId/accept': { status: 303, fields: ({ offerId }) => ({ offerId }) },
    '/desk/rides/:rideId/cancel': { status: 303 },
    '/desk/rides/:rideId/tell': { status: 303, prepare: accepted, fields: () => ({ text: 'Side entrance' }) },
    '/desk/rides/:rideId/start': { status: 303, prepare: arrived },
    '/desk/rides/:rideId/change/trip': {
      status: 303,
      fields: () => ({ at: '40.7, -74', pickupTime: '', passengers: '2', need_pet: 'yes' }),
    },
    '/desk/rides/:rideId/change/details': { status: 303, fields: () => ({ passenger: 'Ann', notes: 'side entrance' }) },
    '/deliveries/send-again': { status: 303, fields: ({ key }) => ({ keyId: key._id, since: '2020-01-01 00:00' }) },
    '/console': {
      status: 303,
      fields: ({ key }) => ({ key: key._id, scenario: 'no_offers', ...placesOf(validRide) }),
    },
    '/console/:rideId/accept': { status: 303, fields: ({ offerId }) => ({ offerId }) },
    '/console/:rideId/cancel': { status: 303 },
    '/console/:rideId/steps/:step offer': { status: 303, fields: () => ({ price: '21', etaMinutes: '6' }) },
    '/console/:rideId/steps/:step withdraw': { status: 303, fields: ({ offerId }) => ({ offerId }) },
    '/console/:rideId/steps/:step expire': { status: 303 },
    '/console/:rideId/steps/:step arrive': { status: 303, prepare: accepted },
  },
  signIn: {
    '/sign-in/code': { status: 303, prepare: newPerson, fields: ({ visitor }) => ({ email: visitor.account.email }) },
    '/sign-in': { status: 303, prepare: mailed, fields: ({ code }) => ({ code }) },
    '/sign-in/link/:link': { status: 303, prepare: mailed, params: ({ link }) => ({ link }) },
    '/confirm/code': { status: 303, prepare: unconfirmed },
    '/confirm': { status: 303, prepare: unconfirmed, fields: ({ code }) => ({ code, next: '/dashboard/keys' }) },
  },
  team: {
    '/team/support-phone': { status: 303, fields: () => ({ phone: '+12025550143' }) },
    '/team/name': { status: 303, fields: () => ({ name: 'Seaside Hotel' }) },
    '/team/invitations': {
      status: 303,
      fields: ({ memberId }) => ({ email: `${memberId}@partner.example`, role: 'desk' }),
    },
    '/team/invitations/:invitationId/send-again': { status: 303 },
    '/team/invitations/:invitationId/withdraw': { status: 303 },
    '/team/members/:memberId/role': { status: 303, fields: () => ({ role: 'owner' }) },
    '/team/members/:memberId/remove': { status: 303 },
    '/team/hand-over': { status: 303, fields: ({ memberId }) => ({ member: memberId }) },
    '/team/leave': { status: 303, prepare: ({ visitor }) => newMember(visitor.account._id, 'owner') },
    '/switch': { status: 303, fields: ({ otherAccountId }) => ({ to: otherAccountId }) },
    '/sign-in/invitation/:invitation': { status: 303 },
  },
};
const ofDesk = { car: 'regular', passengers: '1', rideType: 'standard' };

function accepted({ ctx, rideId, offerId, key }: World): Promise<unknown> {
  return applyAction(ctx, rideId, { action: 'accept', offerId }, { keyId: key._id });
}

async function arrived(world: World): Promise<void> {
  await accepted(world);
  await applyAction(world.ctx, world.rideId, { action: 'arrive' }, { keyId: world.key._id });
}

async function newPerson(world: World): Promise<void> {
  world.visitor = await world.newBrowser();
}

async function mailed(world: World): Promise<void> {
  await newPerson(world);
  const { email } = world.visitor.account;
  await world.visitor.post('/dashboard/sign-in/code', { email });
  world.code = await codeSentTo(world.ctx, email);
  world.link = (await linkSentTo(world.ctx, email)).split('/').at(-1) ?? '';
}

async function unconfirmed(world: World): Promise<void> {
  const { _id: accountId, email } = world.visitor.account;
  await SessionModel.updateMany({ accountId }, { $unset: { verifiedAt: 1 } });
  await world.visitor.post('/dashboard/confirm/code');
  world.code = await codeSentTo(world.ctx, email);
}

async function twoPlaces({ visitor: { account } }: World): Promise<void> {
  for (const name of ['first', 'second']) await addPlace(account._id, name, { name, lat: 40.7, lng: -74 });
}

const placesOf = ({ pickup, destination, fare }: typeof validRide) => ({
  ...{ pickupLat: String(pickup.lat), pickupLng: String(pickup.lng) },
  ...{ destinationLat: String(destination.lat), destinationLng: String(destination.lng), fare: String(fare) },
});

/** Tests the forms of a part. */
export function testSentForms(part: Part): void {
  const proxy = useMongoProxy();
  const api = useTestApi(() => ({ MONGO_URL: proxy.url }));

  async function newWorld(): Promise<World> {
    const visitor = await signedIn(api);
    const accountId = visitor.account._id;
    const { keyId } = await visitor.newKey('test', 'Front desk', 'https://partner.example/hook');
    const otherSession = await startSession(accountId, api.ctx.now());
    const key = (await keys.findOne({ _id: keyId })) as ApiKey;
    const empty = { code: '', link: '', rideId: '', offerId: '', failedRideId: '', memberId: '', invitationId: '' };
    const own = { ctx: api.ctx, visitor, key, otherSession, newBrowser };
    const account = { ...own, ...empty, otherAccountId: '', invitation: '' };
    if (part === 'rides') return { ...account, ...(await newRides(key)) };
    if (part === 'team') return { ...account, ...(await newTeam(visitor)) };
    return account;
  }

  async function newBrowser() {
    const person = { _id: '', email: someone() } as CurrentAccount;
    const { headers } = await visitorOf(api, person, '').get('/dashboard');
    return visitorOf(api, person, headers.getSetCookie()[0]?.split(';')[0] ?? '');
  }

  async function newRides({ _id: keyId, accountId }: ApiKey) {
    const wish: RideWish = { keyId, accountId, mode: 'test', scenario: 'no_offers', offers: [{ price: 20 }] };
    const webhookUrl = 'https://partner.example/hook';
    const { rideId, offerId } = await rideIn(api.ctx, 'bidding', { ...wish, webhookUrl });
    const { rideId: failedRideId } = await rideIn(api.ctx, 'bidding', { ...wish, webhookUrl });
    const at = new Date(api.ctx.now() - 60_000);
    const delivery = { outcome: 'failed', durationMs: 1, at } as const;
    await rides.updateOne({ _id: failedRideId }, { $set: { 'events.0.delivery': delivery, undeliveredAt: at } });
    return { rideId, offerId, failedRideId };
  }

  async function newTeam({ account }: Visitor) {
    const { id: memberId } = await newMember(account._id, 'desk');
    const { id: invitationId } = await newInvitation(api, account, 'desk');
    const { _id: otherAccountId } = await accountOf(someone());
    await newMember(otherAccountId, 'desk', account.email);
    const { token: invitation } = await newInvitation(api, await accountOf(someone()), 'finance', account.email);
    return { memberId, invitationId, otherAccountId, invitation };
  }

  /** The teams of the account and of the person's other accounts, and how many sessions and invitation mails there are. */
  async function teamOf({ _id, email }: Visitor['account']) {
    // The pages of owners complete what a person who has left cannot complete.
    await completeTeam(await storedAccount(_id));
    const { name, members, invitations = [] } = await storedAccount(_id);
    const others = (await accountsWith(email)).filter((account) => account._id !== _id);
    const accountIds = [_id, ...others.map((other) => other._id)];
    const all = await mails.find({ sealed: { $exists: true } }).toArray();
    const invited = invitations.map((invitation) => invitation.email);
    return {
      ...{ hasName: name !== undefined, roles: members.map(({ role }) => role), invited: invited.length },
      others: others.flatMap(({ members: of }) => of.flatMap((member) => (member.email === email ? member.role : []))),
      sessions: await SessionModel.countDocuments({
        accountId: { $in: accountIds },
        memberId: { $ne: founderIdOf(_id) },
      }),
      mails: all.filter((row) => invited.includes(openMail(api.ctx.config, row).to)).length,
    };
  }

  /** Everything that the forms of this part can change, without ids and times. */
  async function stateOf({ visitor: { account }, key }: World) {
    // A person who signs in for the first time has an account only afterwards.
    const accountId = account._id || ((await accounts.findOne({ email: account.email }))?._id ?? '');
    const team = part === 'team' ? await teamOf(account) : undefined;
    const found = await keys.find({ accountId }).sort({ createdAt: 1 }).toArray();
    const attempted = await attempts.find({ accountId }).sort({ _id: 1 }).toArray();
    const sessions = await SessionModel.find({ accountId }).lean();
    return {
      audit: (await auditOf(accountId, 100)).map(({ action }) => action).sort(),
      mails: (await mailsTo(api.ctx, account.email)).map(({ subject }) => subject),
      keys: found.map(({ _id, name, mode, webhookUrl, hash, signingSecret, revokedAt }) => ({
        ...{ name, mode, webhookUrl, isRevoked: revokedAt !== undefined },
        isRotated: _id === key._id && hash !== key.hash,
        isRolled: _id === key._id && signingSecret !== key.signingSecret,
      })),
      endpoints: (await endpointsOf(key._id)).map(({ url, disabledAt }) => `${url} ${disabledAt ? 'off' : 'on'}`),
      attempts: attempted.map(({ kind, seq, outcome }) => `${kind} ${seq} ${outcome}`),
      sessions: sessions.map(({ verifiedAt }) => (verifiedAt ? 'confirmed' : 'new')).sort(),
      codes: (await LimitModel.find({ _id: /^code-mails-to:/ }).lean()).map(({ taken }) => taken.length),
      ...{ desk: await deskState(accountId), rides: await ridesOf(accountId), team },
    };
  }

  async function ridesOf(accountId: string) {
    const found = await rides.find({ accountId }).sort({ _id: 1 }).toArray();
    return found.map(({ status, seq, offers, events, driverNotes = [] }) => ({
      ...{ status, seq, events: events.map(({ event }) => event), notes: driverNotes.map(({ text }) => text) },
      offers: offers.map(({ price, withdrawnAt }) => `${price}${withdrawnAt ? ' withdrawn' : ''}`),
    }));
  }

  async function deskState(accountId: string) {
    const { places, defaultPlace, keyId } = await readDesk(accountId);
    return { places: places.map(({ name }) => name), default: defaultPlace?.name, hasKey: keyId !== undefined };
  }

  /** A form of a new account. Every request sends the same fields. */
  async function formOf(route: string) {
    const { fields, params, prepare } = cases[part][route] as FormCase;
    // Every look at a world decrypts all mails, so those of earlier worlds would make each world slower.
    await mails.deleteMany({});
    // All worlds share one client address.
    await LimitModel.deleteMany({});
    const world = await newWorld();
    await prepare?.(world);
    const [path = '', step = ''] = route.split(' ');
    const { key, rideId, memberId, invitationId, invitation } = world;
    const own = { keyId: key._id, rideId, step, memberId, invitationId, invitation };
    const values = { ...own, ...params?.(world) } as Record<string, string>;
    const address = dashboardBase + path.replaceAll(/:(\w+)/g, (_, name: string) => values[name] ?? '');
    const formId = newFormId();
    const send = () => world.visitor.post(address, { formId, ...fields?.(world) });
    return { world, address, send };
  }

  /** The signing secrets of a key and of its endpoints. */
  async function secretsOf({ _id: keyId }: ApiKey): Promise<string[]> {
    const further = await endpointsOf(keyId);
    const all = [{ keyId }, ...further.map(({ _id: endpointId }) => ({ keyId, endpointId }))];
    const settings = await Promise.all(all.map((each) => settingsFor(api.ctx.config, each)));
    return settings.map(({ signingSecret }) => signingSecret);
  }

  /** Describes an answer: its status and redirect, and for each secret on the page and each new session whether it works. */
  async function answerOf({ status, html, headers }: PageAnswer, { key }: World) {
    const shown = (testId: string) => new RegExp(`data-testid="${testId}">([^<]+)<`).exec(html)?.[1];
    const [newKey, secret] = [shown('new-key'), shown('signing-secret')];
    const sessions = headers.getSetCookie().flatMap((line) => /^session=([^;]+)/.exec(line)?.[1] ?? []);
    const secrets = [
      ...(sessions.length > 0 ? [(await livingSessions(sessions, api.ctx.now())).size === sessions.length] : []),
      ...(newKey ? [(await clientOf(api.url, newKey).get('')).status === 200] : []),
      ...(secret ? [(await secretsOf(key)).includes(secret)] : []),
    ];
    const path = headers.get('location')?.replaceAll(/(att|ride|key|endpoint)_\w+/g, '$1');
    return { status, path, secrets };
  }

  for (const [route, { status, fields, needsNoId }] of Object.entries(cases[part])) {
    it(`a repeated form takes effect once, even if MongoDB fails at any of its writes: ${route}`, async function () {
      this.timeout(scaled(60_000));
      const calm = await formOf(route);
      const before = await stateOf(calm.world);
      for (const formId of needsNoId ? [] : ['', 'x', 'x'.repeat(23)]) {
        const answer = await calm.world.visitor.post(calm.address, { ...fields?.(calm.world), formId });
        expect(answer.status, `with the form id "${formId}"`).to.equal(400);
      }
      expect(await stateOf(calm.world), 'without a valid form id').to.deep.equal(before);
      const wanted = await answerOf(await calm.send(), calm.world);
      const done = await stateOf(calm.world);
      expect(wanted.status).to.equal(status);
      expect(wanted.secrets).not.to.include(false);
      // Sends the form twice without a fault.
      expect((await answerOf(await calm.send(), calm.world)).status).to.equal(status);
      expect(await stateOf(calm.world)).to.deep.equal(done);
      const twice = await formOf(route);
      for (const answer of await Promise.all([twice.send(), twice.send()])) {
        expect(await answerOf(answer, twice.world), 'sent twice at the same time').to.deep.equal(wanted);
      }
      expect(await stateOf(twice.world), 'sent twice at the same time').to.deep.equal(done);

      for (const when of ['before', 'after'] as const) {
        for (let write = 1; ; write += 1) {
          const { world, send } = await formOf(route);
          const cut = proxy.cutWrite(write, when);
          const first = await send();
          cut.end();
          if (!cut.hasHappened) break;
          const where = `${when} write ${write}`;
          expect(first.status, where).to.be.oneOf([503, status]);
          const again = await answerOf(await send(), world);
          expect(again, where).to.deep.equal(wanted);
          await send();
          expect(await stateOf(world), `${where}, sent three times`).to.deep.equal(done);
        }
      }
    });
  }
}
