/** The time of a fault: from its first effect until the affected process or server works again. */
export interface TimeSpan {
  /** Unix time in ms. */
  from: number;
  until: number;
}

/** A fault that the suite made, or a standstill of the machine. Only these excuse anything in the checker. */
export interface Fault extends TimeSpan {
  what: string;
  /**
   * The target of the fault: the API or worker process with this `name`, a server, or the process that makes the faults
   * (`machine`).
   */
  hit: 'api' | 'worker' | 'redis' | 'mongo' | 'machine';
  name?: string;
}

/** True if the fault overlaps the closed interval [from, until]. */
export const overlaps = (fault: TimeSpan, from: number, until: number): boolean =>
  fault.from <= until && fault.until >= from;

/** The parts of a time span that do not overlap any of the faults. */
export function outside(span: TimeSpan, faults: readonly TimeSpan[]): TimeSpan[] {
  let rest = [span];
  for (const { from, until } of faults) {
    rest = rest
      .flatMap((part) => [
        { from: part.from, until: Math.min(part.until, from) },
        { from: Math.max(part.from, until), until: part.until },
      ])
      .filter((part) => part.until > part.from);
  }
  return rest;
}
