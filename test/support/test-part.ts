import { jsonError } from '../../api/http/handle-errors.ts';
import { dataHeaders } from '../../api/http/security-headers.ts';
import type { Part } from '../../api/part.ts';

/** A part that owns `/test` and the paths below it. `fields` overrides the defaults, which are those of JSON parts. */
export const testPart = (fields: Pick<Part, 'handle'> & Partial<Part>): Part => ({
  name: 'test',
  owns: (path) => path === '/test' || path.startsWith('/test/'),
  headers: dataHeaders,
  routes: () => [],
  renderError: jsonError,
  ...fields,
});
