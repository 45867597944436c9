import { type Span, SpanKind, type Telemetry } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';
import { describeError } from '../errors.ts';

const ofJobs: readonly (SpanKind | undefined)[] = [SpanKind.PRODUCER, SpanKind.CONSUMER];

/**
 * BullMQ's telemetry with spans for adding and running a job alone. BullMQ makes many more, of the upkeep that goes on all the
 * time: each would be a trace of its own.
 */
export function jobTelemetry(tracerName: string): Telemetry {
  const { tracer, contextManager } = new BullMQOtel({ tracerName });
  return {
    contextManager,
    tracer: {
      startSpan(name, options, context) {
        if (!ofJobs.includes(options?.kind)) return noSpan;
        // A job's own name has an id in it; it is an attribute.
        const [withoutJob = name] = name.split('.');
        return withoutTexts(tracer.startSpan(withoutJob, options, context));
      },
    },
  };
}

/** An error's text and stack may quote a value or name a host, and a job's result is noted by `runJob`. */
function withoutTexts(span: Span): Span {
  span.addEvent = () => {};
  span.recordException = (error) => {
    const { name, code } = describeError(error);
    span.setAttribute('error.type', String(code ?? name));
  };
  return span;
}

/** Stands for a span that is not made: what runs in it belongs to the span around it. */
const noSpan: Span = {
  setSpanOnContext: (context) => context,
  setAttribute() {},
  setAttributes() {},
  addEvent() {},
  recordException() {},
  end() {},
};
