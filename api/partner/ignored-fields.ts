import type Joi from 'joi';
import { AppError } from '../../shared/base/errors.ts';
import { bodyText, readJsonBody } from '../http/body.ts';
import { validate } from '../http/validate.ts';
import type { RequestContext } from '../part.ts';

const maxNames = 10;
const namePattern = /^[A-Za-z_]\w{0,39}$/;
/** A key, token or phone number sent as a field name must not get into logs through a response header. */
const mayBeSecret = /svc_|whsec_|\d[A-Za-z]|\d{5}/i;

/** The names of a schema's fields, with the fields inside each object. */
type KnownFields = Map<string, KnownFields>;

/**
 * Reads and validates a request's body. Lists the fields that `schema` ignores in `X-Service-Ignored-Fields`, in error
 * responses too: at most 10 names (a nested field without its path), never a value, and no name that may be a secret.
 * `accept`: a faster validation (accept-valid.ts) of the bodies that are valid.
 */
export function bodyOf<T>(
  schema: Joi.Schema<T>,
  accept: (body: unknown) => T | undefined = () => undefined,
): (ctx: RequestContext) => Promise<T> {
  const known = knownFields(schema.describe());
  return async (ctx) => {
    const body = await readJsonBody(ctx);
    const names = new Set<string>();
    addIgnored(names, body as object, known);
    setIgnored(ctx, names);
    const accepted = accept(body) ?? validate(schema, body);
    assertNoNameRemoved(bodyText(ctx));
    return accepted;
  };
}

/** The names in a body that `JSON.parse` drops without an error. */
interface LostNames {
  /** A name occurs twice in its object. Only the last value counts. */
  hasRepeated: boolean;
  /** The fields of the body whose object has an entry named `__proto__`, which is removed. */
  removedFrom: string[];
}

/**
 * Finds the names that `JSON.parse` drops from a body. `text` must be valid JSON. No recursion, because it may be nested
 * deeply.
 */
export function lostNames(text: string): LostNames {
  const lost: LostNames = { hasRepeated: false, removedFrom: [] };
  /** The names so far in each object or list around the token. */
  const open: Set<string>[] = [];
  let field = '';
  let name = '';
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else if (token !== ':') name = JSON.parse(token);
    else {
      const names = open.at(-1);
      if (names?.has(name)) lost.hasRepeated = true;
      names?.add(name);
      if (open.length === 1) field = name;
      if (open.length === 2 && name === '__proto__') lost.removedFrom.push(field);
    }
  }
  return lost;
}

/** Throws a 400 for the name of an entry that the parser has removed, so that nothing of `metadata` is lost silently. */
function assertNoNameRemoved(body: string): void {
  // Most bodies contain neither the name nor an escape with which it could be written.
  if (!body.includes('__proto__') && !body.includes('\\u')) return;
  if (!lostNames(body).removedFrom.includes('metadata')) return;
  const message = 'metadata must not have an entry named __proto__';
  throw new AppError('invalid_request', { message, faults: [{ field: 'metadata', code: 'not_allowed', message }] });
}

/** Lists unknown parameters of the query in the same header as the ignored fields of a body. */
export function listIgnoredParameters(ctx: RequestContext, parameters: readonly string[]): void {
  const names = parameters.filter(isPresentable).slice(0, maxNames);
  setIgnored(ctx, new Set(names));
}

const isPresentable = (name: string): boolean => namePattern.test(name) && !mayBeSecret.test(name);

function setIgnored(ctx: RequestContext, names: ReadonlySet<string>): void {
  const listed = String(ctx.response.get('X-Service-Ignored-Fields') || '');
  const all = new Set([...(listed ? listed.split(', ') : []), ...names]);
  if (all.size > 0) ctx.set('X-Service-Ignored-Fields', [...all].slice(0, maxNames).join(', '));
}

function addIgnored(names: Set<string>, part: object, known: KnownFields): void {
  for (const name of Object.keys(part)) {
    if (names.size === maxNames) return;
    const inside = known.get(name);
    if (!inside) {
      if (isPresentable(name)) names.add(name);
    } else if (inside.size > 0) {
      const value = (part as Record<string, unknown>)[name];
      // Skips a value that is not an object, because the validation refuses it.
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) addIgnored(names, value, inside);
    }
  }
}

function knownFields({ keys = {} }: Joi.Description): KnownFields {
  const fields = Object.entries(keys as Record<string, Joi.Description>);
  return new Map(fields.map(([name, field]) => [name, knownFields(field)]));
}
