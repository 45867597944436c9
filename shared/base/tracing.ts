import type { Telemetry } from 'bullmq';

/** The traces of a process. Spans may only have the fields that log lines may have (logger.ts). */
export interface Tracing {
  /** Telemetry for BullMQ: a span for each job, added or run. It continues the trace of the code that added it. */
  jobs: Telemetry;
  /** Runs `work` in a span; jobs that it adds belong to that span. `end` derives the span's fields from the result. */
  span<Result>(start: SpanStart, work: () => Promise<Result>, end: (result: Result) => SpanEnd): Promise<Result>;
  /** Adds fields to the span that the caller runs in. */
  note(fields: object, options?: { hasFailed?: boolean }): void;
  /** Sends the last spans. Resolves within a second, and never rejects. */
  stop(): Promise<void>;
}

export interface SpanStart {
  name: string;
  /** `server` for a request that this process answers, `client` for one that it sends. */
  kind: 'server' | 'client';
  /** The W3C header `traceparent` of the incoming request. The span continues its trace. */
  traceparent?: string;
}

export interface SpanEnd {
  /** The final name of the span, if it is known only at the end. */
  name?: string;
  hasFailed: boolean;
  fields: object;
}

/** Runs `work` in a span if this process records traces, otherwise without one. */
export function inSpan<Result>(
  tracing: Tracing | undefined,
  start: SpanStart,
  work: () => Promise<Result>,
  end: (result: Result) => SpanEnd,
): Promise<Result> {
  return tracing ? tracing.span(start, work, end) : work();
}
