import { AccountModel } from '../../shared/accounts/account.ts';
import { startSession } from '../../shared/accounts/session.ts';
import type { Mode } from '../../shared/base/terms.ts';
import { signedIn, type Visitor, visitorOf } from './dashboard.ts';
import type { TestApi } from './service.ts';

/** An account whose desk books with a new key: a visitor at the desk, and what a ride of the desk belongs to. */
export async function newDesk(api: TestApi, mode: Mode = 'live') {
  const visitor = await signedIn(api);
  const accountId = visitor.account._id;
  const { keyId } = await visitor.newKey(mode);
  await AccountModel.updateOne({ _id: accountId }, { $set: { deskKeyId: keyId } });
  return {
    visitor,
    owner: { accountId, keyId, mode },
    /** The same account in another browser. */
    colleague: async (): Promise<Visitor> =>
      visitorOf(api, visitor.account, `session=${await startSession(accountId, api.ctx.now())}`),
  };
}
