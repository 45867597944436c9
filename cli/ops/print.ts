import { redisProblemTexts } from '../../shared/base/redis-problem.ts';
import { countLimit } from '../../shared/process/ops/backlog.ts';
import type { BacklogReport, QueueState, QueuesReport } from '../../shared/process/ops/queue-states.ts';
import type { FailingKey } from '../../shared/webhooks/delivery-health.ts';
import { type RideHistory, redeliveryWords } from '../../shared/webhooks/ride-history.ts';
import type { UndeliveredCount } from '../../shared/webhooks/undelivered.ts';
import { aligned, labelled, printable } from '../columns.ts';

interface ResendAnswer {
  keys: UndeliveredCount[];
  sent: number;
}

/** Lists the failed events by key and reason, and says whether they are resent. */
export function resendLines({ keys, sent }: ResendAnswer): string[] {
  if (keys.length === 0) return ['No undelivered events in this period.'];
  const rows = keys.flatMap(({ keyId, reasons }) =>
    Object.entries(reasons).map(([reason, events]) => [keyId, String(events), reason]),
  );
  const events = keys.reduce((sum, key) => sum + key.events, 0);
  return [
    ...aligned([['KEY', 'EVENTS', 'REASON'], ...rows]),
    sent > 0
      ? `Resending ${sent} events, at most 10 per second and key.`
      : `Add --send to resend these ${events} events.`,
  ];
}

interface QueuesAnswer extends QueuesReport {
  backlog: BacklogReport;
}

export function queueLines({ queues, redis, backlog }: QueuesAnswer): string[] {
  const rows = queues?.map(({ pool, waiting, active, delayed, processes, paused }) => [
    pool,
    ...[waiting, active, delayed, processes?.length ?? '?'].map(String),
    paused ? 'paused' : '',
  ]);
  const { overdue } = backlog;
  const late = (seconds: number) => (seconds > 0 ? `${seconds} s` : 'none');
  const counted = (items: number) => (items < countLimit ? String(items) : `${countLimit} or more`);
  return [
    ...(redis ? [`${redisProblemTexts[redis]}.`] : []),
    ...(rows
      ? aligned([['POOL', 'WAITING', 'ACTIVE', 'DELAYED', 'PROCESSES', ''], ...rows])
      : ['The following is from MongoDB.']),
    `Oldest event not sent: ${late(backlog.oldestUnsettledSeconds)}`,
    `Oldest timer overdue: ${late(backlog.oldestOverdueSeconds)}`,
    `Oldest test event or redelivery overdue: ${late(backlog.oldestAttemptSeconds)}`,
    `Oldest mail overdue: ${late(backlog.oldestMailSeconds)}`,
    `Oldest text message overdue: ${late(backlog.oldestMessageSeconds)}`,
    `Rides with events to send: ${counted(overdue.rides)}`,
    `Timers due: ${counted(overdue.timers)}`,
    `Test events and redeliveries due: ${counted(overdue.attempts)}`,
    `Mails due: ${counted(overdue.mails)}`,
    `Text messages due: ${counted(overdue.messages)}`,
    ...waitingLines(backlog.waitingByKey),
    ...processLines(queues ?? []),
  ];
}

/** The worker processes with their pools. */
function processLines(queues: readonly QueueState[]): string[] {
  const names = [...new Set(queues.flatMap(({ processes }) => processes ?? []))].sort();
  const rows = names.map((name) => [
    name,
    queues.flatMap(({ pool, processes }) => (processes?.includes(name) ? pool : [])).join(' '),
  ]);
  return rows.length > 0 ? ['', ...aligned([['PROCESS', 'POOLS'], ...rows])] : [];
}

const noticeTexts: Record<FailingKey['mail'], string> = {
  sent: 'sent',
  waiting: 'waits to be sent',
  failed: 'could not be sent',
  none: 'not yet',
  operator: "none: the operator's key",
};

/** The keys whose deliveries all fail, and when their accounts were notified. Never an address. */
export function failingLines(failing: readonly FailingKey[]): string[] {
  if (failing.length === 0) return ['No key has failed 5 or more times in a row.'];
  const rows = failing.map(({ keyId, accountId, failuresInRow, reason, since, mail, mailedAt, name }) => [
    keyId,
    `${failuresInRow} in a row: ${reason}`,
    timeText(since),
    accountId,
    mailedAt ? `sent ${timeText(mailedAt)}` : noticeTexts[mail],
    printable(name),
  ]);
  return aligned([['KEY', 'FAILED', 'SINCE (UTC)', 'ACCOUNT', 'MAIL (UTC)', 'NAME'], ...rows]);
}

/** The keys with waiting events, those with the most rides first. */
function waitingLines(waiting: BacklogReport['waitingByKey']): string[] {
  const rows = waiting.map(({ keyId, name = '', rides, failuresInRow, reason }) => [
    keyId,
    String(rides),
    failuresInRow ? `${failuresInRow} in a row: ${reason}` : '',
    printable(name),
  ]);
  return rows.length > 0 ? ['', ...aligned([['KEY WITH WAITING EVENTS', 'RIDES', 'FAILED', 'NAME'], ...rows])] : [];
}

/** The result of the last turn of a full sweep (workers/periodic/sweeper/sweep.ts). */
export type SweepAnswer = { swept: true; seconds: number } & Partial<
  Record<'timers' | 'deliveries' | 'attempts' | 'mails' | 'messages' | 'visited' | 'failed', number>
>;

export function sweepLines({
  seconds,
  timers = 0,
  deliveries = 0,
  attempts = 0,
  mails = 0,
  messages = 0,
  visited,
  failed,
}: SweepAnswer): string[] {
  return [
    `Checked ${visited} rides and attempts in ${seconds} s.`,
    `Added ${timers + deliveries + attempts + mails + messages} missing jobs: ${timers} timers, ${deliveries} events, ${attempts} redeliveries or test events, ${mails} mails, ${messages} text messages.`,
    ...(failed ? [`${failed} failed: the next sweep retries them. See the workers' log for the reasons.`] : []),
  ];
}

const timeText = (at: Date): string => at.toISOString().slice(0, 19).replace('T', ' ');

export function rideLines({
  cancelled,
  events,
  redeliveries,
  messages,
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
  const redeliveryRows = redeliveries.map((redelivery) => [
    String(redelivery.seq ?? ''),
    timeText(redelivery.at),
    redeliveryWords(redelivery),
    '',
    outcome(redelivery),
  ]);
  return [
    ...labelled(present, rideLabels),
    ...timers.map(({ name, dueAt }) => `Timer           ${name}, due ${timeText(dueAt)}`),
    '',
    ...aligned([['SEQ', 'AT (UTC)', 'EVENT', 'BY', 'DELIVERY'], ...eventRows, ...redeliveryRows]),
    ...messageLines(messages),
    ...(cancelled ? ['The ride is cancelled; the partner is notified.'] : []),
  ];
}

function messageLines(messages: RideHistory['messages']): string[] {
  if (messages.length === 0) return [];
  const rows = messages.map(({ at, kind, person, state, reason, numberId }) => [
    ...[timeText(at), kind, person, [state, reason].filter(Boolean).join(' '), numberId ?? ''],
  ]);
  return ['', ...aligned([['AT (UTC)', 'TEXT', 'TO', 'OUTCOME', 'NUMBER'], ...rows])];
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
  cancelReason: 'Cancel reason',
  replacedBy: 'Replaced by',
  replaces: 'Replaces',
  erasedAt: 'Erased (UTC)',
};
