import { type ErrorCode, errorCodeHeader, publicErrorOf } from '../../shared/base/errors.ts';
import { type JsonSchema, objectSchema } from '../../shared/base/json-schema.ts';
import { validStatuses } from '../../shared/base/operation.ts';
import { type AnswerHeader, answerHeaders, errorCodeHeaderOf, headerOf } from './answer-headers.ts';
import { type Audience, errorAnswer, errorsBeforeBody } from './error-answers.ts';
import type { ApiResponse, OpenApiDocument, Ref } from './openapi-types.ts';

const errorSchema = objectSchema(
  { error: { type: 'string', description: 'The error, for people to read. Programs use `X-Service-Error`.' } },
  { title: 'ErrorBody' },
);

/** Enums are named schemas, or are repeated where they are used. */
export type EnumStyle = 'named' | 'inline';

/** Collects the components that a document uses: schemas with a title, error responses, and response headers. */
export class Components {
  readonly schemas: Record<string, JsonSchema> = {};
  readonly responses: Record<string, ApiResponse> = {};
  readonly #audience: Audience;
  readonly #enums: EnumStyle;
  readonly #headers = new Set<AnswerHeader>();

  constructor(audience: Audience, enums: EnumStyle) {
    this.#audience = audience;
    this.#enums = enums;
  }

  get headers(): OpenApiDocument['components']['headers'] {
    const names = (Object.keys(answerHeaders) as AnswerHeader[]).filter((name) => this.#headers.has(name));
    return Object.fromEntries(names.map((name) => [name, headerOf(name)]));
  }

  referToHeaders(names: readonly AnswerHeader[]): Record<string, Ref> {
    for (const name of names) this.#headers.add(name);
    return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
  }

  /** Returns the schema, with each schema that has a title replaced by a reference. */
  refer(schema: JsonSchema): JsonSchema {
    if (schema.enum) return this.#referToEnum(schema);
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
    return title ? this.#name(title, inner) : inner;
  }

  /** The description and the default of an enum belong to the field that uses it. */
  #referToEnum({ title, type, enum: members = [], ...ofField }: JsonSchema): JsonSchema {
    if (!title) throw new Error(`an enum needs a title: ${members}`);
    if (this.#enums === 'inline') return { type, enum: members, ...ofField };
    const ref = this.#name(title, { type: 'string', enum: members.filter((member) => member !== null) });
    return members.includes(null) ? { anyOf: [ref, { type: 'null' }], ...ofField } : { ...ref, ...ofField };
  }

  #name(title: string, schema: JsonSchema): JsonSchema {
    const known = this.schemas[title];
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) throw new Error(`two schemas are named ${title}`);
    this.schemas[title] = schema;
    return { $ref: `#/components/schemas/${title}` };
  }

  /** Returns a reference to the response for these errors, which all have the same status. */
  referToErrors(codes: readonly ErrorCode[]): Ref {
    const audience = this.#audience;
    const name = codes.join('-or-');
    const mayWarn = audience === 'partner' && codes.some((code) => validStatuses.has(publicErrorOf(code).status));
    const mayNameIgnored = audience === 'partner' && codes.some((code) => !errorsBeforeBody.has(code));
    this.responses[name] ??= {
      description: codes.map((code) => errorAnswer(code, audience).cause).join('\n\n'),
      headers: {
        ...this.referToHeaders([
          ...new Set<AnswerHeader>([
            'X-Request-Id',
            ...codes.flatMap((code) => errorAnswer(code, audience).headers ?? []),
            ...(mayNameIgnored || mayWarn ? (['X-Service-Ignored-Fields'] as const) : []),
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
