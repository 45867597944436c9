import { type JSONPath, visit } from 'jsonc-parser';

/** The paths of the fields that `JSON.parse` would lose or change, such as `metadata.__proto__`. */
export interface LostNames {
  /** Occurs twice in its object. Only the last value counts. */
  repeated: JSONPath[];
  /** Is named `__proto__`, which is removed. */
  removed: JSONPath[];
}

/** Finds the names that a body of JSON loses. `text` must be valid JSON. */
export function lostNames(text: string): LostNames {
  const lost: LostNames = { repeated: [], removed: [] };
  const open: Set<string>[] = [];
  visit(text, {
    onObjectBegin: () => {
      open.push(new Set());
    },
    onObjectEnd: () => void open.pop(),
    onObjectProperty: (name, _offset, _length, _line, _character, pathOf) => {
      if (open.at(-1)?.has(name)) lost.repeated.push([...pathOf(), name]);
      open.at(-1)?.add(name);
      if (name === '__proto__') lost.removed.push([...pathOf(), name]);
    },
  });
  return lost;
}
