import { type Fault, outside, type TimeSpan } from '../faults-log.ts';

/** The result of a run is worthless if the machine stood still for longer than this. */
const maxTotalMs = 15_000;

/**
 * Standstills excuse the work that they delay. So that they hide no bug, a run with too many of them counts as a
 * violation. Standstills during made faults do not count: restarting all processes at once keeps the machine busy.
 */
export function standstillViolations(standstills: readonly Fault[], made: readonly Fault[]): string[] {
  const { ms } = standstillTotal(standstills, made);
  return ms > maxTotalMs
    ? [`the machine stood still for ${inSeconds(ms)}: repeat the run with nothing else running`]
    : [];
}

/** The part of a run's summary about standstills; empty if there were none. */
export function standstillSummary(standstills: readonly Fault[], made: readonly Fault[]): string {
  const { ms, count } = standstillTotal(standstills, made);
  return count === 0 ? '' : `; the machine stood still for ${inSeconds(ms)} in ${count} periods without a fault`;
}

/** The total of all standstills. Overlapping standstills of several servers count once. */
function standstillTotal(standstills: readonly Fault[], made: readonly Fault[]): { ms: number; count: number } {
  const merged: TimeSpan[] = [];
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
