/**
 * The names that `JSON.parse` would lose or change, each after the names of the objects around it, such as
 * `metadata.__proto__`.
 */
export interface LostNames {
  /** Occurs twice in its object. Only the last value counts. */
  repeated: string[];
  /** Is named `__proto__`, which is removed. */
  removed: string[];
}

/** Finds the names that a body of JSON loses. `text` must be valid JSON. No recursion, because it may be nested deeply. */
export function lostNames(text: string): LostNames {
  const lost: LostNames = { repeated: [], removed: [] };
  /** The objects and lists around the token, with the name of each and the names in it so far. */
  const open: { name: string; names: Set<string> }[] = [];
  let name = '';
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g)) {
    if (token === '{' || token === '[') open.push({ name, names: new Set() });
    else if (token === '}' || token === ']') open.pop();
    else if (token !== ':') name = JSON.parse(token);
    else {
      const names = open.at(-1)?.names;
      const path = () => [...open.slice(1), { name }].map((part) => part.name).join('.');
      if (names?.has(name)) lost.repeated.push(path());
      if (name === '__proto__') lost.removed.push(path());
      names?.add(name);
    }
  }
  return lost;
}
