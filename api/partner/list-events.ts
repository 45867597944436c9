import Joi from 'joi';
import { fromBase62, toBase62 } from '../../shared/base/ids.ts';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { answerOf } from '../../shared/base/operation.ts';
import { batchedFeedReads, type FeedCursor, toFeedCursor } from '../../shared/rides/feed/event-feed.ts';
import { bringNamedSuccessors } from '../../shared/rides/rebid.ts';
import { inSteps } from '../http/route.ts';
import { queryOf } from '../http/validate.ts';
import { exampleEvent, feedEvent, presentEvent, waitFor, waitSeconds } from './event-fields.ts';
import type { PartnerOperation } from './partner-operation.ts';
import { limit, opaqueCursor } from './request-fields.ts';

/** The cursor of the current moment: only later events follow it. */
const nowCursor = 'now';

/** A time and the second part of a ride's id. A cursor that was returned for `now` has only the time. */
const cursorPattern = /^(now|cur_[0-9A-Za-z]{8}([0-9A-Za-z]{24})?)$/;

const query = Joi.object<{ after?: string; limit: number; waitSeconds: number }>({
  after: opaqueCursor
    .pattern(cursorPattern)
    .messages({ 'string.pattern.base': '{{#label}} must be the cursor of an earlier answer, or now' })
    .description(
      'The `cursor` of an earlier answer, or `now` to start with the current moment. Default: the first event of the key.',
    ),
  limit: limit.default(100).description('The maximum number of events in a page.'),
  waitSeconds,
});

const answer = objectSchema(
  {
    events: { type: 'array', items: feedEvent, description: 'Ordered by time, then by ride.' },
    cursor: {
      anyOf: [{ type: 'string' }, { type: 'null' }],
      description: 'The `after` of your next request. `null` until the key has its first event.',
    },
    hasMore: { type: 'boolean', description: 'True if you can read the next page immediately.' },
  },
  { title: 'EventPage' },
);

/** Contract, section 10.3. */
export const listEvents: PartnerOperation = {
  id: 'listEvents',
  method: 'GET',
  path: '/events',
  summary: 'Read the event feed',
  description:
    'Lists the events of all rides of this key, each 3 to 4 seconds after it happened. Keep the `cursor` of each answer, and continue from it with `after`: each event is returned exactly once.\n\nTo catch up after an outage, see [Webhooks](https://rides.example/docs/webhooks#when-you-missed-one).',
  tag: 'feed',
  query,
  answer: answerOf(200, 'A page of events; it may be empty.', answer, {
    events: [exampleEvent],
    cursor: 'cur_0VbcGJ310Uw4cA1k9fZ3xQ7LmT2bVn8Y',
    hasMore: false,
  }),
  errors: ['too_many_waiting'],
  route({ service, findCaller, polls }) {
    const { feed } = polls;
    const read = batchedFeedReads(feed);
    return inSteps(listEvents, {
      authenticate: findCaller,
      validate: (ctx, { keyId }) => ({ keyId, ...queryOf(query, ctx) }),
      async act({ keyId, after: cursor, limit, waitSeconds }, ctx) {
        const after = cursor === nowCursor ? { at: await feed.shownUntil(), rideId: '' } : decodeCursor(cursor);
        const page = await waitFor(
          ctx,
          waitSeconds,
          await read({ keyId, after, limit }),
          ({ events }) => events.length > 0,
          (ms, { readUntil }) => polls.wait(ctx, { keyId, after, readUntil }, ms),
          async () => {
            await findCaller(ctx);
            return read({ keyId, after, limit });
          },
        );
        await bringNamedSuccessors(service, page.events);
        const last = page.events.at(-1);
        return { ...page, cursor: encodeCursor(last ? toFeedCursor(last) : after) };
      },
      present: ({ events, cursor, hasMore }): Shape<typeof answer> => ({
        events: events.map(({ rideId, event }) => presentEvent(rideId, event)),
        cursor,
        hasMore,
      }),
    });
  },
};

/** Encodes a cursor as the opaque text that partners see. */
export const encodeCursor = (cursor: FeedCursor | null): string | null =>
  cursor && `cur_${toBase62(cursor.at, 8)}${cursor.rideId.replace(/^ride_/, '')}`;

function decodeCursor(cursor: string | undefined): FeedCursor | null {
  if (cursor === undefined) return null;
  const ride = cursor.slice(12);
  return { at: fromBase62(cursor.slice(4, 12)), rideId: ride && `ride_${ride}` };
}
