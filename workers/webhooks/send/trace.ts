import {
  type AttemptPhase,
  type AttemptRecord,
  attemptPhases,
  type RecordedOutcome,
} from '../../../shared/webhooks/attempts.ts';

/** The first bytes of an answer's body that are kept. */
export const answerBytes = 1_024;

/** Notes of one attempt, for the dashboard. */
export interface Trace {
  phase: AttemptPhase;
  /** When the phase began (ms, monotonic). */
  since: number;
  /** How long each phase took (ms). */
  phases: Partial<Record<AttemptPhase, number>>;
  /** The address that is called. */
  address: string | null;
  /** When the request was written (ms, monotonic); null before. */
  writtenAt: number | null;
  /** The headers as sent. */
  headers: Record<string, string> | null;
  /** The first bytes of the answer's body. */
  answer: Buffer | null;
  /** The rest of the answer is being read. */
  isDraining: boolean;
  onDrained: (() => void) | null;
}

export const newTrace = (): Trace => ({
  phase: 'dns',
  since: performance.now(),
  phases: {},
  address: null,
  writtenAt: null,
  headers: null,
  answer: null,
  isDraining: false,
  onDrained: null,
});

/** Ends a phase and begins another, or the same again: the times of a phase add up. */
export function enter(trace: Trace, next: AttemptPhase): void {
  const now = performance.now();
  trace.phases[trace.phase] = (trace.phases[trace.phase] ?? 0) + now - trace.since;
  trace.phase = next;
  trace.since = now;
}

/** Keeps the start of the answer. */
export function noteAnswer(trace: Trace, bytes: Buffer): void {
  const before = trace.answer;
  if (!before) trace.answer = bytes.subarray(0, answerBytes);
  else if (before.length < answerBytes) {
    trace.answer = Buffer.concat([before, bytes.subarray(0, answerBytes - before.length)]);
  }
}

export function noteDrained(trace: Trace): void {
  trace.isDraining = false;
  trace.onDrained?.();
}

/** Calls back when the rest of the answer was read: at once, if none is being read. */
export function whenDrained(trace: Trace, callBack: () => void): void {
  if (trace.isDraining) trace.onDrained = callBack;
  else callBack();
}

export const drained = (trace: Trace): Promise<void> => new Promise((resolve) => whenDrained(trace, resolve));

type TraceFields = Pick<AttemptRecord, 'address' | 'headers' | 'answer' | 'phases'>;

/** The fields of an attempt's record. An attempt that was blocked has called no address. */
export function traceFields({ address, headers, answer, phases }: Trace, outcome: RecordedOutcome): TraceFields {
  const times: TraceFields['phases'] = {};
  for (const phase of attemptPhases) {
    const ms = phases[phase];
    if (ms !== undefined) times[phase] = Math.round(ms * 10) / 10;
  }
  return {
    ...(address !== null && outcome !== 'blocked' && { address }),
    ...(headers && { headers }),
    ...(answer && answer.length > 0 && { answer: textOf(answer) }),
    ...(Object.keys(times).length > 0 && { phases: times }),
  };
}

/** Leaves out a last character that was cut. */
const textOf = (bytes: Buffer): string =>
  bytes.length < answerBytes ? bytes.toString() : new TextDecoder().decode(bytes, { stream: true });
