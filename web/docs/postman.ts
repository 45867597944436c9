import type { JsonSchema } from '../../shared/base/json-schema.ts';
import { offerSchema, rideId } from '../../shared/rides/public-schemas.ts';
import type { ApiResponse, OpenApiDocument, Parameter, PathOperation } from './openapi-types.ts';

/**
 * A Postman collection (format 2.1) of the operations of a document with inline enums: a folder for each tag. The first
 * example of each body is the request's body.
 *
 * The usual converter, openapi-to-postmanv2, would add many packages to the API process. Its random ids would also change
 * the ETag at every start.
 */
export function postmanCollection({ info, servers, tags, paths }: OpenApiDocument): object {
  const requests = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      tag: operation.tags[0],
      item: requestItem(path, method, operation),
    })),
  );
  const folders = tags.map(({ name, description }) => ({
    name,
    description,
    item: requests.filter(({ tag }) => tag === name).map(({ item }) => item),
  }));
  return {
    info: {
      name: info.title,
      description: `${info.summary} Set the variable \`key\` to your key. ${info.description}`,
      version: info.version,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{key}}', type: 'string' }] },
    variable: [
      { key: 'baseUrl', value: servers[0]?.url },
      { key: 'key', value: '' },
      ...Object.entries(ids).map(([name, value]) => ({ key: name, value })),
    ],
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: saveIdsScript } }],
    // The events have no requests.
    item: folders.filter(({ item }) => item.length > 0),
  };
}

/** The ids that requests share, with values for the first request. */
const ids: Readonly<Record<string, string>> = {
  rideId: rideId.examples[0],
  offerId: offerSchema.properties.offerId.examples[0],
};

/** After each answer, Postman keeps its ids for the next requests. */
const saveIdsScript = [
  "const isJson = (pm.response.headers.get('Content-Type') ?? '').startsWith('application/json');",
  'const answer = isJson ? pm.response.json() : {};',
  'const first = (answer.offers ?? answer.requests ?? [])[0] ?? {};',
  `for (const name of ${JSON.stringify(Object.keys(ids))}) {`,
  '  const id = answer[name] ?? first[name];',
  '  if (id) pm.collectionVariables.set(name, id);',
  '}',
];

function requestItem(path: string, method: string, operation: PathOperation) {
  const { summary, description, parameters = [], requestBody, responses } = operation;
  const [example] = Object.values(requestBody?.content['application/json'].examples ?? {});
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const query = parameters.filter((parameter) => parameter.in === 'query').map(entryOf);
  const segments = path.slice(1).replaceAll(/\{(\w+)\}/g, ':$1');
  const request = {
    method: method.toUpperCase(),
    description,
    header: [
      ...(example ? [{ key: 'Content-Type', value: 'application/json' }] : []),
      ...parameters.filter((parameter) => parameter.in === 'header').map(entryOf),
    ],
    url: {
      raw: `{{baseUrl}}/${segments}`,
      host: ['{{baseUrl}}'],
      path: segments.split('/'),
      ...(query.length > 0 && { query }),
      ...(inPath.length > 0 && { variable: inPath.map(entryOf) }),
    },
    ...(example && {
      body: { mode: 'raw', raw: withIds(example.value), options: { raw: { language: 'json' } } },
    }),
  };
  return { name: summary, request, response: savedAnswers(request, responses) };
}

/** A parameter with an example value. Optional parameters are switched off, except for the Idempotency-Key. */
function entryOf({ name, required, description, schema }: Parameter) {
  const value = name in ids ? `{{${name}}}` : name === 'Idempotency-Key' ? '{{$guid}}' : exampleOf(schema);
  return { key: name, value, description, ...(!required && name !== 'Idempotency-Key' && { disabled: true }) };
}

const exampleOf = ({ examples = [], default: fallback, enum: members = [], minimum }: JsonSchema): string =>
  String(examples[0] ?? fallback ?? members[0] ?? minimum ?? '');

/** The JSON of a body, with the variables instead of the ids of the example. */
const withIds = (body: object): string =>
  JSON.stringify(body, (name, value) => (name in ids ? `{{${name}}}` : value), 2);

function savedAnswers(originalRequest: object, responses: PathOperation['responses']): object[] {
  return Object.entries(responses).flatMap(([status, response]) => {
    const { description, content } = response as ApiResponse;
    const example = content?.['application/json']?.example;
    if (!example) return [];
    return {
      name: description,
      originalRequest,
      code: Number(status),
      _postman_previewlanguage: 'json',
      header: [{ key: 'Content-Type', value: 'application/json' }],
      body: JSON.stringify(example, null, 2),
    };
  });
}
