import type { Telemetry } from 'bullmq';

/** The traces of a process. Spans have the fields that log lines may have (log-fields.ts) and no others. */
export interface Tracing {
  /** For BullMQ: a span for each job that is added or run. A job carries the trace of what added it. */
  jobs: Telemetry;
  /** Runs `work` in a span; jobs that it adds belong to that span. `end` says what the span shows of the result. */
  span<Result>(start: SpanStart, work: () => Promise<Result>, end: (result: Result) => SpanEnd): Promise<Result>;
  /** Adds fields to the span that the caller runs in. */
  note(fields: object, options?: { hasFailed?: boolean }): void;
  /** Sends the last spans. Takes a second at most, and never fails. */
  stop(): Promise<void>;
}

export interface SpanStart {
  name: string;
  /** A request that is answered, or one that is made. */
  kind: 'server' | 'client';
  /** The W3C header of a request, whose trace goes on. */
  traceparent?: string;
}

export interface SpanEnd {
  /** Where it is known only now. */
  name?: string;
  hasFailed: boolean;
  fields: object;
}

/** Runs `work` in a span if this process has traces, and otherwise as it is. */
export function inSpan<Result>(
  tracing: Tracing | undefined,
  start: SpanStart,
  work: () => Promise<Result>,
  end: (result: Result) => SpanEnd,
): Promise<Result> {
  return tracing ? tracing.span(start, work, end) : work();
}
