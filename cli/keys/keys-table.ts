import { type Account, accountsWith, emailForm } from '../../shared/accounts/account.ts';
import { listKeys } from '../../shared/keys/manage-keys.ts';
import { UsageError } from '../../shared/process/command-line.ts';
import { aligned, printable, truncate } from '../columns.ts';
import { invocation } from '../program.ts';

type ListedKey = Awaited<ReturnType<typeof listedKeys>>[number];

/**
 * The account of `--account EMAIL`: the one that this address founded, or else the only one of which it is a member.
 * Throws UsageError if it is a member of several.
 */
export async function accountFor(email?: string): Promise<Pick<Account, '_id'> | undefined> {
  const found = email ? await accountsWith(email) : [];
  const founded = found.find((account) => account.email === emailForm(email ?? ''));
  if (founded || found.length < 2) return founded ?? found[0];
  throw new UsageError('--account is a member of several accounts: give the address of a founder');
}

/** All keys, or the keys of the account with this e-mail address. */
export async function listedKeys(email?: string) {
  const account = await accountFor(email);
  if (email && !account) return [];
  const found = await listKeys(account ? { accountId: account._id } : 'anyone');
  return found.map((key) => ({
    keyId: key._id,
    name: key.name,
    mode: key.mode,
    key: key.hint,
    webhookUrl: key.webhookUrl ?? null,
    /** Null: the contract's limit. */
    limit: key.limit ?? null,
    createdAt: key.createdAt.toISOString(),
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    revokedAt: key.revokedAt?.toISOString() ?? null,
  }));
}

/** Lists each key on two lines, so that its id and webhook URL are never truncated. A third line shows its own limit. A long name is truncated. */
export function tableOf(keys: readonly ListedKey[], nowMs: number, columns = 80): string[] {
  if (keys.length === 0) return [`No keys. Make one: ${invocation('keys')} create --name NAME --mode test`];
  const rows = keys.map((key) => [
    key.keyId,
    key.mode,
    key.key.slice(-4),
    key.lastUsedAt ? ago(nowMs - Date.parse(key.lastUsedAt)) : 'never',
    printable(key.name),
  ]);
  const [head = '', ...lines] = aligned([['KEY ID', 'MODE', 'ENDS IN', 'LAST USED', 'NAME'], ...rows]);
  const width = Math.min(80, Math.max(60, columns));
  return [
    head,
    ...keys.flatMap((key, index) => [truncate(lines[index] ?? '', width), `  ${destinationOf(key)}`, ...limitOf(key)]),
  ];
}

function destinationOf({ revokedAt, webhookUrl }: ListedKey): string {
  if (revokedAt) return `revoked on ${revokedAt.slice(0, 10)}`;
  return webhookUrl ? `events to ${webhookUrl}` : 'no webhook URL';
}

const limitOf = ({ revokedAt, limit }: ListedKey): string[] =>
  limit && !revokedAt ? [`  at most ${limit.perMinute} rides in 60 seconds, ${limit.perHour} in an hour`] : [];

function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 1_440)} days ago`;
}
