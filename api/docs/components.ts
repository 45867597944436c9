import { type ErrorCode, errorCodeHeader, publicErrorOf } from '../../shared/base/errors.ts';
import { type JsonSchema, objectSchema } from '../../shared/base/json-schema.ts';
import { validStatuses } from '../partner/warnings.ts';
import { type AnswerHeader, answerHeaders, errorCodeHeaderOf, headerOf } from './answer-headers.ts';
import { type Audience, errorAnswer, errorsBeforeBody } from './error-answers.ts';
import type { ApiResponse, OpenApiDocument, Ref } from './openapi-types.ts';

const errorSchema = objectSchema(
  { error: { type: 'string', description: 'The error, for people to read. Programs use `X-Service-Error`.' } },
  { title: 'Error' },
);

export const headerRefs = (names: readonly AnswerHeader[]): Record<string, Ref> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Every response header, as `components.headers`. */
export const documentedHeaders: OpenApiDocument['components']['headers'] = Object.fromEntries(
  (Object.keys(answerHeaders) as AnswerHeader[]).map((name) => [name, headerOf(name)]),
);

/** Collects the components of the document: schemas with a title, and error responses. */
export class Components {
  readonly schemas: Record<string, JsonSchema> = {};
  readonly responses: Record<string, ApiResponse> = {};

  /** Returns the schema, with each schema that has a title replaced by a reference. */
  refer(schema: JsonSchema): JsonSchema {
    const { title, ...rest } = schema;
    const inner: JsonSchema = {
      ...rest,
      ...(schema.properties && {
        properties: Object.fromEntries(
          Object.entries(schema.properties).map(([name, property]) => [name, this.refer(property)]),
        ),
      }),
      ...(schema.items && { items: this.refer(schema.items) }),
      ...(schema.anyOf && { anyOf: schema.anyOf.map((member) => this.refer(member)) }),
    };
    if (!title) return inner;
    const known = this.schemas[title];
    if (known && JSON.stringify(known) !== JSON.stringify(inner)) throw new Error(`two schemas are named ${title}`);
    this.schemas[title] = inner;
    return { $ref: `#/components/schemas/${title}` };
  }

  /** Returns a reference to the response for these errors, which all have the same status. */
  referToErrors(codes: readonly ErrorCode[], audience: Audience): Ref {
    const name = [...(audience === 'driver' ? ['driver'] : []), codes.join('-or-')].join('-');
    const mayWarn = audience === 'partner' && codes.some((code) => validStatuses.has(publicErrorOf(code).status));
    const mayNameIgnored = audience === 'partner' && codes.some((code) => !errorsBeforeBody.has(code));
    this.responses[name] ??= {
      description: codes.map((code) => errorAnswer(code, audience).cause).join('\n\n'),
      headers: {
        ...headerRefs([
          ...new Set<AnswerHeader>([
            'X-Request-Id',
            ...codes.flatMap((code) => errorAnswer(code, audience).headers ?? []),
            ...(mayNameIgnored ? (['X-Service-Ignored-Fields'] as const) : []),
            ...(mayWarn ? (['X-Service-Warnings'] as const) : []),
          ]),
        ]),
        [errorCodeHeader]: errorCodeHeaderOf(codes),
      },
      content: {
        'application/json': {
          schema: this.refer(errorSchema),
          examples: Object.fromEntries(codes.flatMap((code) => errorExamples(code, audience))),
        },
      },
    };
    return { $ref: `#/components/responses/${name}` };
  }
}

function errorExamples(code: ErrorCode, audience: Audience): [string, { value: object }][] {
  const texts = [...(errorAnswer(code, audience).texts ?? []), publicErrorOf(code).text];
  return texts.map((text, index) => [index === 0 ? code : `${code}-${index + 1}`, { value: { error: text } }]);
}
