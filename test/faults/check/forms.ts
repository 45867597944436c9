import type { AuditAction, AuditEntry } from '../../../shared/accounts/audit.ts';
import { sha256 } from '../../../shared/base/ids.ts';
import type { ApiKey } from '../../../shared/keys/api-key.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import type { Fault } from '../faults-log.ts';
import type { Button, Press } from '../load/person.ts';
import { groupBy } from './grouped.ts';
import { timeOf } from './live-history.ts';
import { serverFaultOf } from './requests.ts';

export interface FormEvidence {
  presses: readonly Press[];
  keys: readonly ApiKey[];
  audit: readonly AuditEntry[];
  rides: readonly Ride[];
  faults: readonly Fault[];
}

/**
 * Violations in dashboard forms: a form has one effect and one audit entry, even if several people send it several
 * times.
 */
export function formViolations(evidence: FormEvidence): string[] {
  const { presses, faults } = evidence;
  const effects = groupBy(presses, ({ effect, button }) => `${button} (${effect})`);
  return [
    ...presses.flatMap(({ button, effect, tries }) =>
      tries.flatMap((one) => {
        const fault = serverFaultOf(one, faults);
        return fault ? [`${button} (${effect}) at ${one.api}, ${one.at}: ${fault}`] : [];
      }),
    ),
    ...[...effects].flatMap(([name, pressed]) => {
      const found = [statusFault(pressed), effectFault(pressed, evidence), auditFault(pressed, evidence)];
      return found.flatMap((fault) => (fault ? [`${name}: ${fault}`] : []));
    }),
  ];
}

/** The allowed final statuses for each button. The second of two people who press it may get a 409. */
const expected: Record<Button, readonly number[]> = {
  code: [303],
  'create key': [200],
  rename: [303],
  'save URL': [303],
  'test event': [303],
  roll: [200],
  rotate: [200, 303, 409],
  revoke: [303],
  resend: [303, 409],
  'resend failed': [303],
  'new ride': [303, 429],
  accept: [303, 409],
  cancel: [303, 409],
};

function statusFault(pressed: readonly Press[]): string | undefined {
  const wrong = pressed.find(({ button, status }) => status > 0 && !expected[button].includes(status));
  return wrong && `was answered ${wrong.status}`;
}

const isDone = ({ status }: Press): boolean => status === 200 || status === 303;

/** Checks that the stored data agrees with the answers. */
function effectFault(pressed: readonly Press[], { keys, rides }: FormEvidence): string | undefined {
  const [{ button, about, accountId }] = pressed as [Press];
  const isAcknowledged = pressed.some(isDone);
  const unless = (isRight: unknown, what: string) => (isAcknowledged && !isRight ? what : undefined);
  const key = keys.find(({ _id }) => _id === about);
  const ride = rides.find(({ _id }) => _id === about);
  switch (button) {
    case 'create key': {
      const made = keys.filter((each) => each.accountId === accountId);
      if (made.length > 1) return `made ${made.length} keys`;
      return unless(made.length === 1, 'was acknowledged, but there is no key') ?? secretFault(pressed);
    }
    case 'rename':
      return unless(key?.name.endsWith(' renamed'), 'was acknowledged, but the name is the old one');
    case 'save URL':
      return unless(key?.webhookUrl, 'was acknowledged, but there is no URL');
    case 'roll':
      return pressed.some((press) => isDone(press) && !press.signingSecret) ? 'showed no new secret' : undefined;
    case 'rotate': {
      const shown = new Set(pressed.flatMap((press) => press.key ?? []));
      if (shown.size > 1) return 'showed two keys, but only one works';
      return unless(
        [...shown].some((secret) => sha256(secret) === key?.hash),
        'showed no key that works',
      );
    }
    case 'revoke':
      return unless(key?.revokedAt, 'was acknowledged, but the key is not revoked');
    case 'accept':
      return unless(ride && timeOf(ride, 'driver_arriving') !== undefined, 'was acknowledged, but there is no driver');
    case 'cancel':
      return unless(ride?.cancelledBy === 'partner', 'was acknowledged, but the ride is not cancelled');
    case 'new ride':
      return new Set(pressed.flatMap(({ location }) => location || [])).size > 1 ? 'made two rides' : undefined;
    default:
      return undefined;
  }
}

/** A created key must be shown and must work, even if earlier tries failed. */
function secretFault(pressed: readonly Press[]): string | undefined {
  const shown = new Set(pressed.flatMap(({ key }) => key ?? []));
  if (pressed.some(isDone) && shown.size === 0) return 'showed no key';
  if (shown.size > 1) return 'showed two keys';
  return pressed.some(({ works }) => works === false) ? 'showed a key that does not work' : undefined;
}

const auditActions: Partial<Record<Button, AuditAction>> = {
  'create key': 'key_created',
  rename: 'key_renamed',
  'save URL': 'webhook_url_set',
  roll: 'signing_secret_rolled',
  rotate: 'key_rotated',
  revoke: 'key_revoked',
};

function auditFault(pressed: readonly Press[], { audit }: FormEvidence): string | undefined {
  const [{ button, accountId }] = pressed as [Press];
  const action = auditActions[button];
  if (!action) return undefined;
  const entries = audit.filter((entry) => entry.accountId === accountId && entry.action === action);
  if (entries.length > 1) return `has ${entries.length} audit entries`;
  return pressed.some(isDone) && entries.length === 0 ? 'has no audit entry' : undefined;
}
