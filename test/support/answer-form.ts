import type { ApiResponse } from '../../web/docs/openapi-types.ts';
import { openApi, resolved, schemaName, schemaProblem } from './documented.ts';
import type { RawAnswer } from './raw-http.ts';

const errorCode = /^[a-z_]+$/;
const requestId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The names of the partners' documented success responses, by status. */
const successes = Object.values(openApi.partner.paths)
  .flatMap((operations) => Object.values(operations))
  .flatMap(({ responses }) => Object.entries(responses))
  .filter(([status]) => Number(status) < 400)
  .map(([status, response]) => {
    const { content } = resolved<ApiResponse>(response, openApi.partner);
    return { status: Number(status), schema: schemaName(content?.['application/json']?.schema ?? {}) };
  })
  .filter(({ schema }) => schema);

/** Describes why a response is neither a success of the contract nor `{ "error": text }`. Undefined if it is one. */
export function formProblem({ status, headers, body }: RawAnswer, method = 'GET'): string | undefined {
  if (!(status >= 200 && status <= 499)) return `status ${status}`;
  if (headers['content-type'] !== 'application/json; charset=utf-8') return `${status} with the wrong Content-Type`;
  if (!requestId.test(headers['x-request-id'] ?? '')) return `${status} without X-Request-Id`;
  if (errorCode.test(headers['x-service-error'] ?? '') !== status >= 400) {
    return `${status} with the wrong X-Service-Error`;
  }
  // Node's parser refuses a malformed HEAD without knowing its method, so that answer has a body.
  if (method === 'HEAD') return undefined;
  const fields = Object.keys(body);
  if (status >= 400) {
    return fields.length === 1 && typeof body.error === 'string' ? undefined : `${status} that is not { error: text }`;
  }
  // The health checks are outside the versioned base.
  const isKnown =
    (status === 200 &&
      typeof body.status === 'string' &&
      fields.every((name) => ['status', 'version'].includes(name))) ||
    successes.some((success) => success.status === status && schemaProblem(success.schema, body) === undefined);
  return isKnown ? undefined : `${status} with the fields ${fields.join(', ')}`;
}
