import { createHash } from 'node:crypto';

/** Returns the next number of a sequence in [0, 1). */
export type Random = () => number;

/**
 * A sequence of random numbers that depends only on its seed, so that the order in which drivers act does not change
 * it.
 */
export function randomOf(...seed: (string | number)[]): Random {
  let drawn = 0;
  return () => {
    const digest = createHash('sha256')
      .update([...seed, drawn].join(' '))
      .digest();
    drawn += 1;
    return digest.readUInt32BE() / 2 ** 32;
  };
}

export const between = (random: Random, least: number, most: number): number => least + random() * (most - least);

export function oneOf<T>(random: Random, choices: readonly [T, ...T[]]): T {
  return choices[Math.floor(random() * choices.length)] ?? choices[0];
}
