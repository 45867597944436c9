/** The names of saved places. Pure: the desk's script uses this file too. */

/**
 * A name by which names count as the same in upper and lower case, in every script. Upper case first: the lower case of
 * `ς` and `σ` differs, and so does that of `ß` and `SS`.
 */
export const foldedName = (name: string): string => name.trim().normalize('NFC').toUpperCase().toLowerCase();

/**
 * The place with exactly this name, or else the only one with this name in another case. Undefined if there are several:
 * earlier versions saved places whose names differ only in the case of letters such as `К` and `к`.
 */
export function placeNamed<P extends { name: string }>(places: readonly P[], name: string): P | undefined {
  const exact = places.find((place) => place.name === name.trim());
  const [first, ...others] = places.filter((place) => foldedName(place.name) === foldedName(name));
  return exact ?? (others.length === 0 ? first : undefined);
}
