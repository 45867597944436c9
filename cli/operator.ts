import os from 'node:os';
import { accountOf, operatorEmail } from '../shared/accounts/account.ts';
import { type AuditEntry, audit, commandLine } from '../shared/accounts/audit.ts';
import { type Config, sudoUser } from '../shared/base/config.ts';
import { characterFault } from '../shared/base/shown-text.ts';
import { UsageError } from '../shared/process/command-line.ts';

/**
 * How a command is recorded. `by name`: it changes something, so in production somebody must be named. `if known`: it
 * only adds, copies or re-encrypts what is there, and timers and pasted procedures run it, so it runs without a name
 * too.
 */
export type Recorded = 'by name' | 'if known' | 'never';

/**
 * The name under which a command is recorded: the option --by, or else the system's user, also behind `sudo`. Users
 * that people share or that run services name nobody: for them it is '', but in development their own name. Throws
 * UsageError for a command that needs a name and has none.
 */
export function operatorName(
  { environment }: Pick<Config, 'environment'>,
  given: string | undefined,
  recorded: Recorded,
  user = systemUser(),
): string {
  if (given !== undefined) {
    const name = given.trim();
    const fault = characterFault(name);
    if (fault) throw new UsageError(`--by ${fault}`);
    if (!/^[^\p{C}]{1,100}$/u.test(name)) throw new UsageError('--by needs a name of 1 to 100 characters');
    return name;
  }
  if (environment === 'development' || !user.isShared) return user.name;
  if (recorded === 'by name') {
    throw new UsageError(`--by NAME is missing: the system's user ${user.name} does not say who you are`);
  }
  return '';
}

interface SystemUser {
  name: string;
  isShared: boolean;
}

const sharedUsers: readonly string[] = ['root', 'node'];

function systemUser(): SystemUser {
  const behindSudo = sudoUser();
  if (behindSudo) return { name: behindSudo, isShared: sharedUsers.includes(behindSudo) };
  try {
    const { username, shell } = os.userInfo();
    // Users of services have no shell to sign in with.
    return { name: username, isShared: sharedUsers.includes(username) || /\/(nologin|false)$/.test(shell ?? '') };
  } catch {
    // In a container, the user may have no name.
    return { name: `user ${process.getuid?.()}`, isShared: true };
  }
}

export type AuditFields = Pick<AuditEntry, 'action' | 'keyId' | 'about'> & { accountId?: string };

/**
 * Records a command in the audit log of the affected account, or of the operator's account if none is affected. `by` is
 * the operator's name, '' if it is not known.
 */
export async function recordAudit(nowMs: number, by: string, { accountId, ...entry }: AuditFields): Promise<void> {
  const ofAccount = accountId ?? (await accountOf(operatorEmail))._id;
  await audit({ accountId: ofAccount, ...entry, ...(by && { by }), from: commandLine }, nowMs);
}
