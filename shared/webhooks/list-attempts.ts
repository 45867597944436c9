import type mongoose from 'mongoose';
import { firstAttemptId } from '../base/ids.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { type SentEvent, sentEvents } from '../base/terms.ts';
import {
  type AccountOwner,
  type AttemptRecord,
  type AttemptSummary,
  attempts,
  ofAccount,
  ofKey,
  type RecordedOutcome,
  recordedOutcomes,
  summary,
} from './attempts.ts';

export interface AttemptFilters {
  keyId?: string;
  outcome?: RecordedOutcome | readonly RecordedOutcome[];
  event?: SentEvent;
  /** Attempts at this time or later. */
  from?: Date;
  /** Attempts before this time. */
  to?: Date;
  /** The id of the last attempt of the previous page. */
  after?: string;
  limit: number;
}

/**
 * The attempts of an account that match the filters, newest first. Pages that are read with `after` show each attempt
 * once, even while new ones are inserted. The cost does not grow with the number of attempts: the filter lists all
 * outcomes and events, so MongoDB merges a few index ranges that are each ordered by id.
 */
export async function listAttempts({ accountId }: AccountOwner, filters: AttemptFilters): Promise<AttemptSummary[]> {
  const { keyId, outcome = recordedOutcomes, event, limit } = filters;
  const filter = {
    accountId,
    ...(keyId !== undefined && { keyId }),
    outcome: { $in: [outcome].flat() },
    event: { $in: event ? [event] : sentEvents },
    _id: idRange(filters),
  } as mongoose.mongo.Filter<AttemptRecord>;
  const options = {
    projection: summary,
    sort: { _id: -1 },
    limit,
    hint: keyId === undefined ? ofAccount : ofKey,
  } as const;
  return attempts.find<AttemptSummary>(filter, { ...options, ...timeLimit() }).toArray();
}

/** Every id has an underscore at this place, and a backtick is the next character in text order. */
const afterAllIds = 'att`';

function idRange({ from, to, after }: Pick<AttemptFilters, 'from' | 'to' | 'after'>): { $gte: string; $lt: string } {
  const ends = [after, to && firstAttemptId(to.getTime())].filter((end) => end !== undefined);
  return { $gte: firstAttemptId(from?.getTime() ?? 0), $lt: ends.sort()[0] ?? afterAllIds };
}
