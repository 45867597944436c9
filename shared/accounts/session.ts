import { type Account, AccountModel } from './account.ts';
import { sessionStore } from './session-store.ts';

/** The browsers in which somebody of an account has signed in to the dashboard. */
const sessions = sessionStore<{ accountId: string }>('Session', 'sessions', ['accountId']);
const findOwner = sessions.finder();

export const SessionModel = sessions.model;
export const livingSessions = sessions.living;
export const endSession = sessions.end;
export const endAllSessions = sessions.endAll;

/** Starts a session of an account, and resolves with its token. */
export const startSession = (accountId: string, nowMs: number): Promise<string> => sessions.start({ accountId }, nowMs);

/** Resolves with the account that a session's token belongs to, or with null when the session has ended or never was. */
export async function accountOfSession(token: string, nowMs: number): Promise<Account | null> {
  const owner = await findOwner(token, nowMs);
  return owner && AccountModel.findById(owner.accountId).lean();
}
