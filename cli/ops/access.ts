import { type AuditAction, type AuditEntry, auditActions, auditOfOperators } from '../../shared/accounts/audit.ts';
import { createToken, listTokens, revokeToken } from '../../shared/accounts/operator-token.ts';
import type { Context } from '../../shared/base/context.ts';
import { UsageError } from '../../shared/process/command-line.ts';
import { aligned, labelledBy, printable } from '../columns.ts';
import { recordAudit } from '../operator.ts';
import { commandOf, readTime } from '../program.ts';

const command = commandOf<Context>();
const shownWith = labelledBy({ tokenId: 'Token id', token: 'Token', owner: 'Owner', revoked: 'Revoked' });
const actions = ['create', 'list', 'revoke'] as const;
const shownEntries = 1_000;

/** The commands about who may do what, and who did what. */
export const accessCommands = {
  tokens: command({
    summary: "creates, lists or revokes operators' tokens",
    operands: '<create|list|revoke> [TOKENID]',
    options: { '--owner <NAME>': 'owner of the new token; default: you' },
    about: `A personal token opens /ops on the operators' port of an
API process. If OPS_AUTH is "personal", it also reads
/metrics, for example as the token of Prometheus. It is
shown once. A revoked token is refused within 30 seconds.
Without --owner, it belongs to the operator who creates it.`,
    examples: [
      'PROGRAM tokens create --by anna',
      'PROGRAM tokens create --owner prometheus',
      'PROGRAM tokens revoke optoken_1a2B3c4D5e6F7g',
    ],
    read({ owner }, word, tokenId = '') {
      const action = actions.find((known) => known === word);
      if (!action) throw new UsageError(`tokens needs one of: ${actions.join(', ')}`);
      if (owner !== undefined && action !== 'create') throw new UsageError(`tokens ${action} does not accept --owner`);
      if ((action === 'revoke') !== (tokenId !== '')) throw new UsageError('revoke, and only revoke, needs a TOKENID');
      if (owner !== undefined && !/^[^\p{C}]{1,100}$/u.test(owner.trim()))
        throw new UsageError('--owner needs a name of 1 to 100 characters');
      return { action, owner: owner?.trim(), tokenId };
    },
    recorded: ({ action }) => (action === 'list' ? 'never' : 'by name'),
    async run(ctx, { action, owner, tokenId }, by): Promise<TokensAnswer> {
      if (action === 'list') return { tokens: await listTokens() };
      if (action === 'create') {
        const made = { ...(await createToken(owner ?? by, ctx.now())), owner: owner ?? by };
        await recordAudit(ctx.now(), by, { action: 'token_created', about: `${made.tokenId} of ${made.owner}` });
        return made;
      }
      const ofOwner = await revokeToken(tokenId, ctx.now());
      await recordAudit(ctx.now(), by, { action: 'token_revoked', about: `${tokenId} of ${ofOwner}` });
      return { tokenId, owner: ofOwner, revoked: true };
    },
    print(answer) {
      if ('tokens' in answer) return tokenLines(answer.tokens);
      return shownWith('token' in answer ? 'Keep it: it is not shown again.' : 'It is refused within 30 seconds.')(
        answer,
      );
    },
  }),
  audit: command({
    summary: 'lists who did what on the command line',
    options: {
      '--since <TIME>': 'only entries since then; default: 30 days',
      '--by <NAME>': 'only the entries of this operator',
      '--action <ACTION>': 'only these entries, such as key_revoked',
    },
    about: `Lists the operators' commands that changed something and
their visits to the operators' pages, the newest first, at
most ${shownEntries}. Entries are kept for 365 days
(DELETE_AUDIT_AFTER_DAYS).`,
    examples: [
      'PROGRAM audit --by anna',
      `PROGRAM audit \\
    --since 2026-11-05T09:30Z --action pool_paused`,
    ],
    read({ since, action, by }) {
      const known = auditActions.find((one) => one === action);
      if (action !== undefined && !known) throw new UsageError(`unknown action ${action}`);
      return { since: since === undefined ? undefined : readTime('since', since), action: known, by };
    },
    async run(ctx, { since = new Date(ctx.now() - 30 * 86_400_000), action, by }) {
      return auditOfOperators({ since, action: action as AuditAction | undefined, by }, shownEntries);
    },
    print: auditLines,
  }),
};

type Tokens = Awaited<ReturnType<typeof listTokens>>;
type TokensAnswer =
  | { tokens: Tokens }
  | { tokenId: string; token: string; owner: string }
  | { tokenId: string; owner: string; revoked: true };

const timeText = (at?: Date): string => at?.toISOString().slice(0, 16).replace('T', ' ') ?? 'never';

function tokenLines(tokens: Tokens): string[] {
  if (tokens.length === 0) return ['No tokens.'];
  const rows = tokens.map(({ _id, owner, createdAt, lastUsedAt, revokedAt }) => [
    ...[_id, timeText(createdAt), revokedAt ? `revoked ${timeText(revokedAt)}` : timeText(lastUsedAt)],
    printable(owner),
  ]);
  return aligned([['TOKEN ID', 'CREATED (UTC)', 'LAST USED', 'OWNER'], ...rows]);
}

function auditLines(entries: readonly AuditEntry[]): string[] {
  if (entries.length === 0) return ['No entries.'];
  const rows = entries.map(({ at, by = 'unknown', action, keyId, about, accountId }) => [
    ...[timeText(at), printable(by), action, printable(keyId ?? about ?? accountId)],
  ]);
  return aligned([['AT (UTC)', 'BY', 'ACTION', 'ABOUT'], ...rows]);
}
