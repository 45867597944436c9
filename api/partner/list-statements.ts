import Joi from 'joi';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { answerOf } from '../../shared/base/operation.ts';
import { keyNames } from '../../shared/keys/list-keys.ts';
import { placeText } from '../../shared/rides/place-text.ts';
import { month, unixMs } from '../../shared/rides/public-schemas.ts';
import { isMonth } from '../../shared/usage/days.ts';
import { closedMonths, keyLines, statementMonths, statementPage } from '../../shared/usage/key-statements.ts';
import { statementCsv } from '../../shared/usage/statement-csv.ts';
import { type TripLine, tripFacts } from '../../shared/usage/trips.ts';
import { inSteps, paramOf } from '../http/route.ts';
import { queryOf, validate } from '../http/validate.ts';
import type { PartnerOperation } from './partner-operation.ts';
import { exampleRideId, limit, nextCursor, pageCursor } from './request-fields.ts';

const monthParameter = Joi.string()
  .custom((value: string, helpers) => (isMonth(value) ? value : helpers.error('month.form')))
  .label('month')
  .messages({ 'month.form': '{{#label}} must be a month, such as 2026-11' });

const closed = {
  type: 'boolean',
  description: 'True once no further trips are added, an hour after the end of the month.',
} as const;
const usd = (description: string) => ({ type: 'number', minimum: 0, description }) as const;

const monthList = objectSchema(
  {
    statements: {
      type: 'array',
      items: objectSchema({ month, closed }, { title: 'StatementMonth' }),
      description: 'Each month since the first ride of the key, the newest first.',
    },
  },
  { title: 'StatementList' },
);

/** Contract, section 10.15. */
export const listStatements: PartnerOperation = {
  id: 'listStatements',
  method: 'GET',
  path: '/statements',
  summary: 'List your statements',
  description:
    'Lists the months that have a statement for this key. A test key has statements too, although its rides are free.',
  tag: 'billing',
  answer: answerOf(200, 'The months.', monthList, { statements: [{ month: '2026-11', closed: false }] }),
  errors: [],
  route: ({ service, findCaller }) =>
    inSteps(listStatements, {
      authenticate: findCaller,
      validate: (_ctx, key) => key,
      act: (key) => statementMonths(key, service.now()),
      present: (statements) => ({ statements }),
    }),
};

const trip = objectSchema(
  {
    rideId: { type: 'string', description: 'The ride.' },
    endedAt: unixMs('When it was completed'),
    agreedPrice: usd('What you pay for it, in USD, rounded to cents.'),
    reference: {
      type: 'string',
      description: 'Your reference. Present until the personal data of the ride is erased.',
    },
    from: {
      type: 'string',
      description: 'The address of the pickup, or its coordinates. Present for as long as the reference.',
    },
    to: { type: 'string', description: 'The same of the destination.' },
  },
  { title: 'StatementTrip', optional: ['reference', 'from', 'to'] },
);

const statement = objectSchema(
  {
    month,
    closed,
    trips: { type: 'integer', minimum: 0, description: 'The number of completed rides of the key in the month.' },
    total: usd('The sum of their prices, in USD.'),
    lines: { type: 'array', items: trip, description: 'A page of these rides, ordered by their ends.' },
    nextCursor,
  },
  { title: 'Statement' },
);

const query = Joi.object<{ limit: number; cursor?: string }>({
  limit: limit.default(100).description('The maximum number of rides in a page.'),
  cursor: pageCursor(/^\d{1,15}\.ride_[0-9A-Za-z]{24}$/),
});

/** The place of a line in the order of a statement. */
const cursorOf = ({ endedAt, rideId }: TripLine): string => `${endedAt.getTime()}.${rideId}`;

/** The place that a cursor names: by default, before the first line. */
function placeIn(cursor = '0.'): Pick<TripLine, 'endedAt' | 'rideId'> {
  const [endedAt, rideId = ''] = cursor.split('.');
  return { endedAt: new Date(Number(endedAt)), rideId };
}

/** Contract, section 10.15. */
export const retrieveStatement: PartnerOperation = {
  id: 'retrieveStatement',
  method: 'GET',
  path: '/statements/:month',
  summary: 'Retrieve a statement',
  description:
    'Shows the completed rides of this key in a month, with their sum. A ride belongs to the month in which it ended, in UTC. The statement of a test key has its 1,000 newest rides at most.',
  tag: 'billing',
  query,
  answer: answerOf(200, 'A page of the statement.', statement, {
    month: '2026-11',
    closed: false,
    trips: 1,
    total: 26,
    lines: [
      {
        rideId: exampleRideId,
        endedAt: 1_795_270_500_000,
        agreedPrice: 26,
        reference: 'room-1204',
        from: 'Times Square',
        to: 'Wall Street',
      },
    ],
    nextCursor: null,
  }),
  errors: [],
  route: ({ service, findCaller }) =>
    inSteps(retrieveStatement, {
      authenticate: findCaller,
      validate: (ctx, key) => ({ key, month: validate(monthParameter, paramOf(ctx, 'month')), ...queryOf(query, ctx) }),
      async act({ key, month, limit, cursor }) {
        const { hasMore, ...page } = await statementPage(key, month, limit, placeIn(cursor));
        const last = hasMore && page.lines.at(-1);
        const ids = page.lines.map(({ rideId }) => rideId);
        const [facts, isClosed] = await Promise.all([tripFacts(ids, key), closedMonths(key, service.now())]);
        return { ...page, nextCursor: last ? cursorOf(last) : null, month, closed: isClosed(month), facts };
      },
      present: ({ facts, cents, lines, ...sums }): Shape<typeof statement> => ({
        ...sums,
        total: cents / 100,
        lines: lines.map(({ rideId, endedAt, cents }) => {
          const trip = facts.get(rideId);
          return {
            rideId,
            endedAt: endedAt.getTime(),
            agreedPrice: cents / 100,
            ...(trip?.reference !== undefined && { reference: trip.reference }),
            ...(trip && { from: placeText(trip.pickup), to: placeText(trip.destination) }),
          };
        }),
      }),
    }),
};

/** Contract, section 10.15. */
export const downloadStatement: PartnerOperation = {
  id: 'downloadStatement',
  method: 'GET',
  path: '/statements/:month/trips.csv',
  summary: 'Download a statement',
  description:
    'The same rides as a CSV file, one row for each: [its columns](https://rides.example/docs/rides#what-you-pay) are those of the file in the dashboard, in the form for programs.',
  tag: 'billing',
  answer: {
    status: 200,
    description: 'The file, in UTF-8, with a head.',
    schema: { type: 'string' },
    mediaType: 'text/csv',
    example: `Ride ID,Ended (UTC),Key ID,Key name,Agreed price (USD),Reference,From,To\r\n${exampleRideId},2026-11-21T14:55:00.000Z,key_4f9b2c,Front desk,26.00,room-1204,Times Square,Wall Street\r\n`,
  },
  errors: [],
  route: ({ findCaller }) =>
    inSteps(downloadStatement, {
      authenticate: findCaller,
      validate: (ctx, key) => ({ key, month: validate(monthParameter, paramOf(ctx, 'month')) }),
      act: ({ key, month }) =>
        statementCsv(
          keyLines(key, month),
          async (lines) => ({
            hasPlaces: true,
            keyNames: await keyNames([key.keyId], key),
            trips: await tripFacts(
              lines.map(({ rideId }) => rideId),
              key,
            ),
          }),
          'plain',
        ),
      headers: () => ({ 'Content-Type': 'text/csv; charset=utf-8; header=present' }),
      present: (file) => file,
    }),
};
