import { jsonError } from '../../api/http/handle-errors.ts';
import { dataHeaders } from '../../api/http/security-headers.ts';
import type { Part } from '../../api/part.ts';

/** A part that owns `/test` and the paths below it, and is like the API's other parts where `fields` does not say otherwise. */
export const testPart = (fields: Pick<Part, 'handle'> & Partial<Part>): Part => ({
  name: 'test',
  owns: (path) => path === '/test' || path.startsWith('/test/'),
  headers: dataHeaders,
  routes: () => [],
  renderError: jsonError,
  ...fields,
});
