import type Joi from 'joi';
import type { JsonSchema } from '../../shared/base/json-schema.ts';
import type { AnswerHeader } from './answer-headers.ts';
import type { DocumentedError } from './error-answers.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** What the documentation says of a route. A route cannot be made without one. */
export interface Operation<M extends Method = Method> {
  /** Names it in the OpenAPI document and in clients made from it. */
  id: string;
  method: M;
  /** Below the base, with names as `:rideId`, each of them in `pathParameters` (openapi.ts). */
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
    headers?: readonly AnswerHeader[];
    example?: object | string;
  };
  /** Beside those that every route has (`commonErrors`). */
  errors: readonly DocumentedError[];
}

/** The groups of operations, in the order of the reference. */
export const tags = {
  rides: ['Rides', 'Request a ride, choose an offer, follow the trip.'],
  feed: ['Event feed', 'Events that can be read, by those who missed a webhook or have no receiver.'],
  byHand: ['Test rides by hand', 'Be the driver and the clock of a test ride.'],
  service: ['Service', 'What this service is.'],
  driver: ['Driver', 'Who you are, where you are, and whether you want rides.'],
  requests: ['Requests', 'Rides that are open to a driver, and offers on them.'],
  trip: ['Trip', 'The ride that a driver was chosen for, step by step.'],
} as const;
export type Tag = keyof typeof tags;
