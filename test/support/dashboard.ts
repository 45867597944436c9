import { accountOf, founderIdOf } from '../../shared/accounts/account.ts';
import { type CurrentAccount, currentAccount } from '../../shared/accounts/members.ts';
import { startSession } from '../../shared/accounts/session.ts';
import { newAccountId } from '../../shared/base/ids.ts';
import type { Mode } from '../../shared/base/terms.ts';
import { createKey, type NewKey } from '../../shared/keys/manage-keys.ts';
import type { RideStatus } from '../../shared/rides/ride-types.ts';
import { type RideWish, rideIn } from './rides.ts';
import type { TestApi } from './service.ts';

/** A response of the dashboard. */
export interface PageAnswer {
  status: number;
  headers: Headers;
  html: string;
}

/** A signed-in user of the dashboard, whose browser runs no scripts. */
export interface Visitor {
  account: CurrentAccount;
  cookie: string;
  get(path: string): Promise<PageAnswer>;
  /** Sends a form like a page of the dashboard. Adds a new `formId` and the `account` unless the fields have them. */
  post(path: string, fields?: Record<string, string>, headers?: Record<string, string>): Promise<PageAnswer>;
  /** Creates a key of the account without a form, as the operator's command does. */
  newKey(mode?: Mode, name?: string, webhookUrl?: string): Promise<NewKey>;
  /** Creates a ride of the account in this status: of a new live key, unless the wish names one. `path` is its page. */
  rideIn(status: RideStatus, wish?: RideWish): Promise<RideOfVisitor>;
}

type RideOfVisitor = Awaited<ReturnType<typeof rideIn>> & { keyId: string; path: string };

/** A visitor with a new account, or with the account of the given address. */
export async function signedIn(api: TestApi, email = `${newAccountId()}@partner.example`): Promise<Visitor> {
  const founded = await accountOf(email);
  const account = currentAccount(founded, founderIdOf(founded._id), []) as CurrentAccount;
  return visitorOf(api, account, `session=${await startSession(account._id, api.ctx.now())}`);
}

/** A visitor with a new account for each test of the surrounding describe. */
export function useVisitor(api: TestApi): Visitor {
  const visitor = {} as Visitor;
  beforeEach(async () => {
    Object.assign(visitor, await signedIn(api));
  });
  return visitor;
}

/** A visitor with this session cookie. */
export function visitorOf(
  { url, ctx }: Pick<TestApi, 'url' | 'ctx'>,
  account: CurrentAccount,
  cookie: string,
): Visitor {
  const ask = async (path: string, init: RequestInit) => {
    const answer = await fetch(url + path, {
      redirect: 'manual',
      ...init,
      headers: { cookie, 'sec-fetch-site': 'same-origin', ...init.headers },
    });
    return { status: answer.status, headers: answer.headers, html: await answer.text() };
  };
  const newKey: Visitor['newKey'] = (mode = 'test', name = 'Front desk', webhookUrl) =>
    createKey(ctx.config, { accountId: account._id, name, mode, webhookUrl });
  return {
    account,
    cookie,
    get: (path) => ask(path, {}),
    post: (path, fields = {}, headers = {}) =>
      ask(path, {
        method: 'POST',
        body: new URLSearchParams({ formId: newFormId(), account: account._id, ...fields }),
        headers,
      }),
    newKey,
    async rideIn(status, wish = {}) {
      const keyId = wish.keyId ?? (await newKey(wish.mode ?? 'live')).keyId;
      const ride = await rideIn(ctx, status, { ...wish, keyId, accountId: account._id });
      return { ...ride, keyId, path: `/dashboard/rides/${ride.rideId}` };
    },
  };
}

/** A new form id, as a page creates it. */
export const newFormId = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64url');
