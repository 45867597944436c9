/** What a body loses when `JSON.parse` reads it. */
export interface LostNames {
  /** A name occurs twice in its object. Only the last value counts. */
  hasRepeated: boolean;
  /** The fields of the body whose object has an entry named `__proto__`, which is removed. */
  removedFrom: string[];
}

/** Finds the names that a body of JSON loses. `text` must be valid JSON. No recursion, because it may be nested deeply. */
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
