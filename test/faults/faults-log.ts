/** Of a fault: from its first sign until the victim was back. */
export interface Stretch {
  /** Unix time in ms. */
  from: number;
  until: number;
}

/** What was done to the service and when: what the checker may excuse by it, and nothing else. */
export interface Fault extends Stretch {
  what: string;
  /**
   * The API or worker process of that name, a server, MongoDB's clock, or (`machine`) the process that makes the faults. While
   * MongoDB's clock is wrong, nothing is excused, but times on both sides of a step cannot be compared. In the moment of a
   * `step` ahead MongoDB ends the operations under way, since their time is over: a 503 is excused.
   */
  hit: 'api' | 'worker' | 'redis' | 'mongo' | 'clock' | 'step' | 'machine';
  name?: string;
}

/** Whether a fault that began by `until` was not over by `from`. */
export const overlaps = (fault: Stretch, from: number, until: number): boolean =>
  fault.from <= until && fault.until >= from;

/** Whether MongoDB's clock was stepped, so that its times and this machine's cannot be compared. */
export const hasSteps = (faults: readonly Fault[]): boolean => faults.some(({ hit }) => hit === 'clock');

/** The parts of a stretch in which none of the faults was on. */
export function outside(stretch: Stretch, faults: readonly Stretch[]): Stretch[] {
  let rest = [stretch];
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
