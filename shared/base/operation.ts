import Joi from 'joi';
import type { ErrorCode } from './errors.ts';
import type { JsonSchema, Shape } from './json-schema.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** An operation of an API, as the documentation describes it. Every API route needs one. */
export interface Operation {
  /** `operationId` in the OpenAPI document, and the name in generated clients. */
  id: string;
  method: Method;
  /** Relative to the base of the API. Each parameter must be in `pathParameters` (web/docs/openapi.ts). */
  path: string;
  /** A few words: the title of its section in the reference. */
  summary: string;
  /** The description, in Markdown. */
  description: string;
  tag: Tag;
  /** The schemas that the route validates with. */
  headers?: Readonly<Record<string, Joi.Schema>>;
  query?: Joi.ObjectSchema;
  body?: { schema: Joi.Schema; examples: Readonly<Record<string, object>>; isOptional?: true };
  /** The response on success. */
  answer: {
    status: 200 | 201 | 204;
    description: string;
    /** The schema of the body; absent for a 204. */
    schema?: JsonSchema;
    /** The media type; JSON if absent. */
    mediaType?: 'text/event-stream' | 'text/csv';
    /** The headers that the documentation does not add to every response of its kind. */
    headers?: readonly ('RateLimit' | 'RateLimit-Policy' | 'X-Service-Replayed')[];
    example?: object | string;
  };
  /** The errors that are not common to all operations (`commonErrors` in web/docs/error-answers.ts). */
  errors: readonly ErrorCode[];
}

/** The error statuses that a valid request can get. */
export const validStatuses: ReadonlySet<number> = new Set([404, 409, 429]);

/** The groups of operations, in the order of the reference. */
export const tags = {
  rides: ['Rides', 'Request a ride, choose an offer, follow the trip.'],
  feed: ['Event feed', 'Read events if you missed a webhook or have no receiver.'],
  endpoints: ['Webhook endpoints', 'Send events to several URLs.'],
  billing: ['Statements and usage', 'Reconcile what you pay, and count your rides.'],
  manual: ['Manual steps', 'Control the driver and the clock of a test ride.'],
  service: ['Service', 'Information about this service.'],
  driver: ['Driver', 'Your profile, your position and your availability.'],
  requests: ['Requests', 'Rides that are open to you, and your offers on them.'],
  trip: ['Trip', 'The steps of the ride that a partner chose you for.'],
} as const;
type Tag = keyof typeof tags;

/** The schema of a request's body, a JSON object. `title` names it in the OpenAPI document. */
export const bodySchema = <T>(title: string, fields: Joi.SchemaMap<T>): Joi.ObjectSchema<T> =>
  Joi.object<T>(fields).required().meta({ openapi: { title } }).label('The request body');

/** An answer with a body. The compiler checks the example against the schema. */
export const answerOf = <Schema extends JsonSchema>(
  status: 200 | 201,
  description: string,
  schema: Schema,
  example: Shape<Schema> & object,
): Operation['answer'] => ({ status, description, schema, example });
