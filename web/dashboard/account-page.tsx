import { audit, auditOf } from '../../shared/accounts/audit.ts';
import { completeTeam } from '../../shared/accounts/change-team.ts';
import { endOtherSessions, endSession, endSessionOf, hasSession, sessionsOf } from '../../shared/accounts/session.ts';
import { derivedAuditId } from '../../shared/base/ids.ts';
import { keyNames } from '../../shared/keys/list-keys.ts';
import { type Answer, type SentRequest, sessionCookie } from '../kit/answer.ts';
import { form } from '../kit/form.ts';
import { page } from '../kit/page.tsx';
import { everyone } from '../kit/roles.ts';
import { accountView } from './account-page-view.tsx';

const entriesAPage = 50;
const mostBrowsers = 50;

/**
 * The signed-in person and their sessions and, for owners, the account's audit list. Sessions are ended on the server:
 * deleting the cookie is not enough, because it may have been copied. Each form can be sent again until all its steps
 * are done.
 */
export const account = page('/account', {
  section: 'account',
  roles: everyone,
  async read({ account, owner, session, query, service }) {
    const before = entryAfter(query('before'));
    if (account.member.role === 'owner') await completeTeam(account);
    const [sessions, found] = await Promise.all([
      sessionsOf(account, mostBrowsers, service.now()),
      account.member.role === 'owner' ? auditOf(account._id, entriesAPage + 1, before) : [],
    ]);
    return {
      account,
      sessions,
      currentId: session._id,
      entries: found.slice(0, entriesAPage),
      hasMore: found.length > entriesAPage,
      isFirst: before === undefined,
      keyNames: await keyNames(
        found.flatMap(({ keyId }) => keyId ?? []),
        owner,
      ),
    };
  },
  view: accountView,
  forms: {
    'end-session': form({ ofPerson: true, act: endOne }),
    'sign-out-everywhere': form({
      path: '/sign-out-everywhere',
      ofPerson: true,
      confirm: () => null,
      act: signOutEverywhere,
    }),
  },
});

/** The entry that a cursor names; undefined for the first page and for an invalid cursor. */
function entryAfter(cursor: string) {
  const [, ms, _id] = /^(\d{1,15})-(audit_[0-9A-Za-z]+)$/.exec(cursor) ?? [];
  return ms && _id ? { at: new Date(Number(ms)), _id } : undefined;
}

const entryOf = ({ account, from }: SentRequest) => ({ accountId: account._id, member: account.member.email, from });

async function endOwn({ sent, hostCookie }: SentRequest): Promise<Answer> {
  await endSession(sent.session);
  hostCookie(sessionCookie).clear();
  return { redirectTo: '/dashboard' };
}

/**
 * Ends all sessions of the person. The session that sent the form ends last, so that the form can be sent again if it
 * was interrupted.
 */
async function signOutEverywhere(request: SentRequest): Promise<Answer> {
  const { account, session, service } = request;
  await endOtherSessions(account, session);
  // Once per session: this session ends here, so it has no second form to record.
  const _id = derivedAuditId('signed_out_everywhere', account._id, session._id);
  await audit({ _id, ...entryOf(request), action: 'signed_out_everywhere' }, service.now());
  return endOwn(request);
}

/**
 * Ends one session of the person, and records it only if there is one: other ids would fill the audit list. The entry is
 * added first, because a form that is sent again after the end finds no session.
 */
async function endOne(request: SentRequest): Promise<Answer> {
  const { account, session, service, text } = request;
  const sessionId = text('session');
  if (sessionId === session._id) return endOwn(request);
  if (/^[0-9a-f]{64}$/.test(sessionId) && (await hasSession(account, sessionId))) {
    const _id = derivedAuditId('session_ended', account._id, sessionId);
    await audit({ _id, ...entryOf(request), action: 'session_ended' }, service.now());
    await endSessionOf(account, sessionId);
  }
  return { redirectTo: '/dashboard/account#sessions' };
}
