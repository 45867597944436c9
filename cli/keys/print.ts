import { aligned, cut, labelled, printable } from '../columns.ts';
import type { ListedKey } from './commands.ts';
import { type CommandName, howToCreate } from './usage.ts';

/** Prints an answer: one line of JSON, or for people labelled lines, the last of which says what to do next. */
export function printAnswer(command: CommandName, answer: object | object[], asJson: boolean): void {
  if (asJson) console.log(JSON.stringify(answer));
  else if (Array.isArray(answer))
    console.log(tableOf(answer as ListedKey[], Date.now(), process.stdout.columns).join('\n'));
  else console.log([...labelled(answer, labels), nextStep(command, answer)].join('\n'));
}

const labels: Record<string, string> = {
  keyId: 'Key id',
  key: 'Secret key',
  mode: 'Mode',
  name: 'Name',
  webhookUrl: 'Webhook URL',
  signingSecret: 'Signing secret',
  revoked: 'Revoked',
  rekeyed: 'Rekeyed',
  remaining: 'Remaining',
  unopened: 'Unopened',
};

function nextStep(
  command: CommandName,
  answer: { webhookUrl?: null | string; remaining?: number; unopened?: string[] },
) {
  switch (command) {
    case 'create':
      return 'Keep the secret key and the signing secret: neither is shown again.';
    case 'rotate':
      return 'Keep the secret key: it is not shown again. The old one is dead.';
    case 'roll-secret':
      return 'Keep it: it is not shown again. The next delivery is signed with it.';
    case 'set-webhook':
      return answer.webhookUrl
        ? 'The next delivery goes there.'
        : 'Only rides with a webhookUrl of their own send events.';
    case 'rekey':
      if (answer.unopened) return 'The unopened keys need a new signing secret: roll-secret KEYID.';
      return answer.remaining ? 'Run it again until none remain.' : 'The older keys can go from SECRETS_KEY.';
    default:
      return 'It is dead on its next request. Its rides go on.';
  }
}

/** Two lines for each key, so that its id and webhook URL are whole. Only a long name is cut. Exported for its test. */
export function tableOf(keys: readonly ListedKey[], nowMs: number, columns = 80): string[] {
  if (keys.length === 0) return [`No keys. Make one: ${howToCreate}`];
  const rows = keys.map((key) => [
    key.keyId,
    key.mode,
    key.key.slice(-4),
    key.lastUsedAt ? ago(nowMs - Date.parse(key.lastUsedAt)) : 'never',
    printable(key.name),
  ]);
  const [head = '', ...lines] = aligned([['KEY ID', 'MODE', 'ENDS IN', 'LAST USED', 'NAME'], ...rows]);
  const width = Math.min(80, Math.max(60, columns));
  return [head, ...keys.flatMap((key, index) => [cut(lines[index] ?? '', width), `  ${destinationOf(key)}`])];
}

function destinationOf({ revokedAt, webhookUrl }: ListedKey): string {
  if (revokedAt) return `revoked on ${revokedAt.slice(0, 10)}`;
  return webhookUrl ? `events to ${webhookUrl}` : 'no webhook URL';
}

function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 1_440)} days ago`;
}
