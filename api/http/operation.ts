import Joi from 'joi';
import type { ErrorCode } from '../../shared/base/errors.ts';
import type { JsonSchema } from '../../shared/base/json-schema.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** An operation for programs, as the documentation describes it. A route cannot be made without one. */
export interface Operation<M extends Method = Method> {
  /** Names it in the OpenAPI document and in clients made from it. */
  id: string;
  method: M;
  /** Below the base, with names as `:rideId`, each of them in `pathParameters` (docs/openapi.ts). */
  path: string;
  /** A few words: the title of its section. */
  summary: string;
  /** Markdown. */
  description: string;
  tag: Tag;
  /** The schemas that the route validates with. */
  headers?: Readonly<Record<string, Joi.Schema>>;
  query?: Joi.ObjectSchema;
  body?: { schema: Joi.Schema; examples: Readonly<Record<string, object>>; isOptional?: true };
  /** The success. */
  answer: {
    status: 200 | 201 | 204;
    description: string;
    /** A 204 has none. */
    schema?: JsonSchema;
    /** Else JSON. */
    mediaType?: 'text/event-stream';
    /** Beside those that the documentation adds to every answer of its kind. */
    headers?: readonly ('RateLimit' | 'RateLimit-Policy')[];
    example?: object | string;
  };
  /** Beside those of every operation (`commonErrors` in docs/error-answers.ts). */
  errors: readonly ErrorCode[];
}

/** The groups of operations, in the order of the reference. */
export const tags = {
  rides: ['Rides', 'Request a ride, choose an offer, follow the trip.'],
  feed: ['Event feed', 'Events that can be read, by those who missed a webhook or have no receiver.'],
  manual: ['Test rides by hand', 'Be the driver and the clock of a test ride.'],
  service: ['Service', 'What this service is.'],
  driver: ['Driver', 'Who you are, where you are, and whether you want rides.'],
  requests: ['Requests', 'Rides that are open to a driver, and offers on them.'],
  trip: ['Trip', 'The ride that a driver was chosen for, step by step.'],
} as const;
type Tag = keyof typeof tags;

/** The schema of a request's body, a JSON object. `title` names it in the OpenAPI document. */
export const bodySchema = <T>(title: string, fields: Joi.SchemaMap<T>): Joi.ObjectSchema<T> =>
  Joi.object<T>(fields).required().meta({ openapi: { title } }).label('The request body');
