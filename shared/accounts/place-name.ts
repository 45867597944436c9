/** The names of saved places. Pure: the desk's script uses this file too. */

/**
 * A name by which names count as the same in upper and lower case, in every script. Upper case first: the lower case of
 * `ς` and `σ` differs, and so does that of `ß` and `SS`.
 */
export const foldedName = (name: string): string => name.trim().normalize('NFC').toUpperCase().toLowerCase();

/** The place with this name, in upper or lower case. */
export const placeNamed = <P extends { name: string }>(places: readonly P[], name: string): P | undefined =>
  places.find((place) => foldedName(place.name) === foldedName(name));
