/** What was done to the service and when: what the checker may excuse by it, and nothing else. */
export interface Fault {
  what: string;
  /** Whom it hit: the API process or worker process of that name, or a server. */
  hit: 'api' | 'worker' | 'redis' | 'mongo';
  name?: string;
  /** Unix time in ms, from the first sign of it until the victim was back. */
  from: number;
  until: number;
}

/** Whether a fault that began by `until` was not over by `from`. */
export const overlaps = (fault: Fault, from: number, until: number): boolean =>
  fault.from <= until && fault.until >= from;
