/** The fields of `from` with these names, in their order, without those that are absent or undefined. Pure. */
export function pick<T extends object, Name extends keyof T>(from: T, ...names: Name[]): Pick<T, Name> {
  const picked: Partial<T> = {};
  for (const name of names) if (from[name] !== undefined) picked[name] = from[name];
  return picked as Pick<T, Name>;
}
