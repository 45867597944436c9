import {
  type Attributes,
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { type Span as JobSpan, SpanKind as JobSpanKind, type Telemetry } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';
import type { TraceSettings } from './config.ts';
import { describeError } from './errors.ts';
import { type Logger, onlyAllowed } from './logger.ts';
import type { SpanStart, Tracing } from './tracing.ts';

const tracerName = 'ride-partner-api';
/** Maximum time that a stop waits for the collector. */
const stopMs = 1_000;

/**
 * Starts OpenTelemetry for this process. At most 2,048 spans wait for the collector and further ones are dropped, so an
 * unreachable collector loses traces and affects nothing else.
 */
export function openTelemetry(settings: TraceSettings, processName: string, log: Logger): Tracing {
  const exporter = new OTLPTraceExporter({ url: `${settings.endpoint}/v1/traces` });
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': `rides-${processName}` })),
    // The first span of a trace decides whether the trace is recorded. All its later spans, also in other processes,
    // follow that decision.
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(settings.share) }),
    spanProcessors: [new BatchSpanProcessor({ exporter: withWarning(exporter, log) })],
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const tracer = provider.getTracer(tracerName);

  return {
    jobs: jobTelemetry(tracerName),
    async span({ name, kind, traceparent }, work, end) {
      const parent = kind === 'server' ? contextOf(traceparent, Math.random() < settings.share) : context.active();
      const span = tracer.startSpan(name, { kind: kinds[kind] }, parent);
      try {
        const result = await context.with(trace.setSpan(parent, span), work);
        const { name: lastName, hasFailed, fields } = end(result);
        if (lastName) span.updateName(lastName);
        note(span, fields, hasFailed);
        return result;
      } catch (error) {
        span.setAttribute('error.type', describeError(error).name);
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    },
    note(fields, { hasFailed = false } = {}) {
      const span = trace.getActiveSpan();
      if (span) note(span, fields, hasFailed);
    },
    async stop() {
      let limit: NodeJS.Timeout | undefined;
      const atLatest = new Promise<void>((resolve) => {
        limit = setTimeout(resolve, stopMs);
      });
      // An error of the shutdown is ignored, because the exporter has already logged it.
      await Promise.race([provider.shutdown().catch(() => {}), atLatest]);
      clearTimeout(limit);
      for (const api of [trace, context, propagation]) api.disable();
    },
  };
}

const kinds: Record<SpanStart['kind'], SpanKind> = { server: SpanKind.SERVER, client: SpanKind.CLIENT };

/**
 * Continues the trace that a client has started. Neither the trace's flag nor its id decides whether it is recorded,
 * because the client chooses both. Its `tracestate` is dropped, because it may contain anything.
 */
function contextOf(traceparent: string | undefined, isSampled: boolean): Context {
  const begun = traceparent && trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent }));
  if (!begun) return ROOT_CONTEXT;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { ...begun, traceFlags });
}

function note(span: Span, fields: object, hasFailed: boolean): void {
  span.setAttributes(attributesOf(fields));
  if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR });
}

/** OpenTelemetry's names for log fields. Fields without one keep their names. */
const attributeNames: Record<string, string> = {
  method: 'http.request.method',
  route: 'http.route',
  httpStatus: 'http.response.status_code',
};

const attributesOf = (fields: object): Attributes =>
  Object.fromEntries(
    Object.entries(onlyAllowed({ ...fields })).map(([name, value]) => [attributeNames[name] ?? name, value]),
  ) as Attributes;

const jobSpanKinds: readonly (JobSpanKind | undefined)[] = [JobSpanKind.PRODUCER, JobSpanKind.CONSUMER];

/**
 * BullMQ's telemetry, limited to the spans for adding and running a job. BullMQ's spans for its regular maintenance are
 * dropped, because each of them would start a trace.
 */
function jobTelemetry(tracerName: string): Telemetry {
  const { tracer, contextManager } = new BullMQOtel({ tracerName });
  return {
    contextManager,
    tracer: {
      startSpan(name, options, context) {
        if (!jobSpanKinds.includes(options?.kind)) return noSpan;
        // The span's name ends with the job's name, which contains an id. The id is an attribute.
        const [withoutJob = name] = name.split('.');
        return withoutTexts(tracer.startSpan(withoutJob, options, context));
      },
    },
  };
}

/** Drops events and error texts, which may quote a value or name a host. `runJob` records the job's result. */
function withoutTexts(span: JobSpan): JobSpan {
  span.addEvent = () => {};
  span.recordException = (error) => {
    const { name, code } = describeError(error);
    span.setAttribute('error.type', String(code ?? name));
  };
  return span;
}

/** Replaces a span that is not created. Code inside it belongs to the enclosing span. */
const noSpan: JobSpan = {
  setSpanOnContext: (context) => context,
  setAttribute() {},
  setAttributes() {},
  addEvent() {},
  recordException() {},
  end() {},
};

/** Wraps the exporter: logs one warning each time the collector stops accepting spans. */
function withWarning(exporter: SpanExporter, log: Pick<Logger, 'warn'>): SpanExporter {
  let isAccepted = true;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const wasAccepted = isAccepted;
        isAccepted = result.code === ExportResultCode.SUCCESS;
        if (wasAccepted && !isAccepted) {
          log.warn({ error: describeError(result.error) }, 'traces are dropped: the collector does not accept them');
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
