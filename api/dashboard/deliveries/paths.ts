import type { EventName } from '../../../shared/rides/ride-types.ts';
import { type RecordedOutcome, recordedOutcomes } from '../../../shared/webhooks/attempts.ts';

export const deliveriesPath = '/dashboard/deliveries';
export const attemptPath = (attemptId: string): string => `${deliveriesPath}/${encodeURIComponent(attemptId)}`;

/** Where something was to be sent and did not arrive: one filter for what most look for. */
export const missedOutcomes = ['failed', 'timeout', 'blocked'] as const satisfies RecordedOutcome[];
export const outcomeFilters = ['missed', ...recordedOutcomes] as const;

export const eventNames = ['offer.received', 'ride.status'] as const satisfies EventName[];
