import type { Logger } from '../../shared/logger.ts';
import type { Claimed } from './claim.ts';

/** What this service lacks is no outcome of a delivery; but so that nothing waits for ever, it is one after 24 h. */
const patienceMs = 24 * 3_600_000;

const quietMs = 60_000;
const reports = new WeakMap<Logger, Map<string, number>>();

/** How long ago the event happened (ms), by MongoDB's clock at the time of the claim. */
const ageMs = ({ claim, event }: Claimed): number => claim.at.getTime() - event.at.getTime();

export const mayWaitLonger = (claimed: Claimed): boolean => ageMs(claimed) < patienceMs;

/** Until an event is tried again that a new try alone will not help: as long as it has waited, 15 s to 5 min. */
export const backoffMs = (claimed: Claimed): number => Math.min(Math.max(ageMs(claimed), 15_000), 300_000);

/** Logs an error that every event may meet: once a minute for each reason, with the first event of that minute. */
export function reportLack(log: Logger, reason: string, event: { rideId: string; keyId: string; seq: number }): void {
  const now = performance.now();
  const reportedAt = reports.get(log) ?? new Map<string, number>();
  reports.set(log, reportedAt);
  if (now - (reportedAt.get(reason) ?? -quietMs) < quietMs) return;
  reportedAt.set(reason, now);
  log.error({ ...event, reason }, 'events wait for what this process lacks');
}
