/** The spread of several rounds of one figure. */
export function spreadOf(rounds: readonly number[]) {
  const sorted = [...rounds].sort((a, b) => a - b);
  return { min: sorted[0] ?? Number.NaN, median: quantile(sorted, 0.5), max: sorted.at(-1) ?? Number.NaN };
}

export const median = (numbers: readonly number[]): number => spreadOf(numbers).median;

/** The p-quantile of unsorted numbers: the smallest number that at least a share p of all numbers does not exceed. */
export function percentile(numbers: ArrayLike<number>, p: number): number {
  const sorted = Float64Array.from(numbers).sort();
  return sorted[Math.max(0, Math.ceil(sorted.length * p) - 1)] ?? Number.NaN;
}

/** A quantile between two numbers is their mean, as for a median. */
function quantile(sorted: number[], p: number): number {
  const place = (sorted.length - 1) * p;
  const [below, above] = [sorted[Math.floor(place)] ?? Number.NaN, sorted[Math.ceil(place)] ?? Number.NaN];
  return (below + above) / 2;
}
