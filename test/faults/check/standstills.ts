import { type Fault, outside, type Stretch } from '../faults-log.ts';

/** A run on a machine that stands still for longer than this says nothing. */
const mostMs = 15_000;

/**
 * Standstills excuse what they held up. So that they hide nothing, a run with too many of them is none. While a fault is made they
 * do not count: whoever starts everything again at once holds up the machine.
 */
export function standstillViolations(standstills: readonly Fault[], made: readonly Fault[]): string[] {
  const { ms } = standstillTotal(standstills, made);
  return ms > mostMs ? [`the machine stood still for ${inSeconds(ms)}: run it again alone`] : [];
}

/** What a run's summary says of them; nothing where there was none. */
export function standstillSummary(standstills: readonly Fault[], made: readonly Fault[]): string {
  const { ms, count } = standstillTotal(standstills, made);
  return count === 0 ? '' : `; the machine stood still by itself for ${inSeconds(ms)} in ${count} stretches`;
}

/** Those of several servers at a time are one. */
function standstillTotal(standstills: readonly Fault[], made: readonly Fault[]): { ms: number; count: number } {
  const merged: Stretch[] = [];
  const ofServers = standstills
    .filter(({ hit }) => hit !== 'machine')
    .flatMap((standstill) => outside(standstill, made))
    .sort((a, b) => a.from - b.from);
  for (const { from, until } of ofServers) {
    const last = merged.at(-1);
    if (last && from <= last.until) last.until = Math.max(last.until, until);
    else merged.push({ from, until });
  }
  return { ms: merged.reduce((sum, { from, until }) => sum + until - from, 0), count: merged.length };
}

const inSeconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
