import Joi from 'joi';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { answerOf } from '../../shared/base/operation.ts';
import { dayMs, startOfDay } from '../../shared/usage/days.ts';
import { keyUsage } from '../../shared/usage/key-statements.ts';
import { inSteps } from '../http/route.ts';
import { queryOf, validate } from '../http/validate.ts';
import type { PartnerOperation } from './partner-operation.ts';

const usageDays = objectSchema(
  {
    rides: { type: 'integer', minimum: 0, description: 'The rides that were created with the key in these days.' },
    days: {
      type: 'array',
      items: objectSchema(
        {
          day: { type: 'string', format: 'date', description: 'The day in UTC.' },
          rides: { type: 'integer', minimum: 0, description: 'The rides that were created on it.' },
        },
        { title: 'UsageDay' },
      ),
      description: 'Each day, the oldest first.',
    },
  },
  { title: 'Usage' },
);

const mostDays = 366;
const dayPattern = /^20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;
const day = Joi.string()
  .empty('')
  .pattern(dayPattern)
  // Date.parse turns February 30 into March 2.
  .custom((value, helpers) =>
    new Date(value).toISOString().startsWith(value) ? value : helpers.error('string.pattern.base'),
  )
  .meta({ openapi: {} })
  .messages({ 'string.pattern.base': '{{#label}} must be a day, such as 2026-11-05' });

const usageQuery = Joi.object<{ from?: string; to?: string }>({
  from: day.example('2026-11-01').description('The first day, in UTC. Default: 29 days before the last one.'),
  to: day
    .example('2026-11-30')
    .description('The last day, in UTC, at most 365 days after the first one. Default: today.'),
});

/** The period of a request for usage. Throws a 400. */
function periodOf({ from, to }: { from?: string; to?: string }, nowMs: number): { from: Date; to: Date } {
  const last = to === undefined ? startOfDay(nowMs) : Date.parse(to);
  const first = from === undefined ? last - 29 * dayMs : Date.parse(from);
  const days = (last - first) / dayMs + 1;
  const range = Joi.number()
    .min(1)
    .max(mostDays)
    .messages({
      '*': `from must be at most ${mostDays - 1} days before to, and not after it`,
    });
  validate(range.label('from'), days);
  return { from: new Date(first), to: new Date(last + dayMs) };
}

/** Contract, section 10.15. */
export const retrieveUsage: PartnerOperation = {
  id: 'retrieveUsage',
  method: 'GET',
  path: '/usage',
  summary: 'Retrieve your usage',
  description:
    'Counts the rides that were created with this key on each day. A ride that replaces another one does not count.',
  tag: 'billing',
  query: usageQuery,
  answer: answerOf(200, 'The rides by day.', usageDays, { rides: 12, days: [{ day: '2026-11-05', rides: 12 }] }),
  errors: [],
  route: ({ service, findCaller }) =>
    inSteps(retrieveUsage, {
      authenticate: findCaller,
      validate: (ctx, key) => ({ key, ...periodOf(queryOf(usageQuery, ctx), service.now()) }),
      act: ({ key, from, to }) => keyUsage(key, from, to),
      present: (days): Shape<typeof usageDays> => ({
        rides: days.reduce((sum, { rides }) => sum + rides, 0),
        days,
      }),
    }),
};
