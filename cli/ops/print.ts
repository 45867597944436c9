import type { Backlog, QueueState } from '../../shared/process/ops/queue-states.ts';
import type { UndeliveredCount } from '../../shared/webhooks/redeliver.ts';
import type { RideHistory } from '../../shared/webhooks/ride-history.ts';
import { aligned, labelled, printable } from '../columns.ts';

interface Resent {
  keys: UndeliveredCount[];
  sent: number;
}

/** The failed events by key and reason, and what is done about them. */
export function resendLines({ keys, sent }: Resent): string[] {
  if (keys.length === 0) return ['No event failed in this time that has not arrived since.'];
  const rows = keys.flatMap(({ keyId, reasons }) =>
    Object.entries(reasons).map(([reason, events]) => [keyId, String(events), reason]),
  );
  const events = keys.reduce((sum, key) => sum + key.events, 0);
  return [
    ...aligned([['KEY', 'EVENTS', 'REASON'], ...rows]),
    sent > 0
      ? `${sent} events are sent again, at most 10 a second for each key.`
      : `Add --send to send these ${events} events again.`,
  ];
}

interface Queues {
  queues: QueueState[];
  backlog: Backlog;
}

export function queueLines({ queues, backlog }: Queues): string[] {
  const rows = queues.map(({ pool, waiting, active, delayed, paused }) => [
    pool,
    ...[waiting, active, delayed].map(String),
    paused ? 'paused' : '',
  ]);
  const late = (seconds: number) => (seconds > 0 ? `${seconds} s` : 'none');
  return [
    ...aligned([['POOL', 'WAITING', 'ACTIVE', 'DELAYED', ''], ...rows]),
    `Oldest event not sent: ${late(backlog.oldestUnsettledSeconds)}`,
    `Oldest timer overdue: ${late(backlog.oldestOverdueSeconds)}`,
    `Oldest attempt by hand overdue: ${late(backlog.oldestAttemptSeconds)}`,
    `Oldest mail overdue: ${late(backlog.oldestMailSeconds)}`,
    ...waitingLines(backlog.waitingByKey),
  ];
}

/** The keys whose events wait, the most rides first. */
function waitingLines(waiting: Backlog['waitingByKey']): string[] {
  const rows = waiting.map(({ keyId, name = '', rides, failuresInRow, reason }) => [
    keyId,
    String(rides),
    failuresInRow ? `${failuresInRow} in a row: ${reason}` : '',
    printable(name),
  ]);
  return rows.length > 0 ? ['', ...aligned([['EVENTS WAIT OF', 'RIDES', 'FAILED', 'NAME'], ...rows])] : [];
}

/** What the last stretch of a full sweep found (workers/periodic/sweeper/sweep.ts). */
export type SweepAnswer = { swept: true; seconds: number } & Partial<
  Record<'timers' | 'deliveries' | 'attempts' | 'mails' | 'visited' | 'failed', number>
>;

export function sweepLines({
  seconds,
  timers = 0,
  deliveries = 0,
  attempts = 0,
  mails = 0,
  visited,
  failed,
}: SweepAnswer): string[] {
  return [
    `Looked at ${visited} rides and attempts in ${seconds} s.`,
    `Added ${timers + deliveries + attempts + mails} missing jobs: ${timers} timers, ${deliveries} events, ${attempts} by hand, ${mails} mails.`,
    ...(failed ? [`${failed} failed: the next sweep tries them again, and the workers' log says why.`] : []),
  ];
}

const timeText = (at: Date): string => at.toISOString().slice(0, 19).replace('T', ' ');

export function rideLines({
  cancelled,
  events,
  redeliveries,
  timers,
  ...facts
}: RideHistory & { cancelled?: true }): string[] {
  const shown = {
    ...facts,
    createdAt: timeText(facts.createdAt),
    erasedAt: facts.erasedAt && timeText(facts.erasedAt),
  };
  const present = Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined));
  const outcome = (row: { outcome: string; httpStatus?: number; reason?: string; durationMs?: number }) =>
    [row.outcome, row.httpStatus, row.reason, row.durationMs !== undefined && `${Math.round(row.durationMs)} ms`]
      .filter(Boolean)
      .join(' ');
  const eventRows = events.map((event) => [
    String(event.seq),
    timeText(event.at),
    event.status ?? event.event,
    event.by ?? '',
    outcome(event),
  ]);
  const againRows = redeliveries.map((again) => [
    String(again.seq ?? ''),
    timeText(again.at),
    'sent again',
    '',
    outcome(again),
  ]);
  return [
    ...labelled(present, rideLabels),
    ...timers.map(({ name, dueAt }) => `Timer           ${name}, due ${timeText(dueAt)}`),
    '',
    ...aligned([['SEQ', 'AT (UTC)', 'EVENT', 'BY', 'DELIVERY'], ...eventRows, ...againRows]),
    ...(cancelled ? ['The ride is cancelled; its partner is told.'] : []),
  ];
}

const rideLabels: Record<string, string> = {
  rideId: 'Ride id',
  keyId: 'Key id',
  accountId: 'Account id',
  mode: 'Mode',
  status: 'Status',
  createdAt: 'Created (UTC)',
  fare: 'Fare',
  agreedPrice: 'Agreed price',
  driverId: 'Driver id',
  cancelledBy: 'Cancelled by',
  erasedAt: 'Erased (UTC)',
};
