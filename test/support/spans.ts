import type { Receipt } from './receiver.ts';

/** A span in the format that a collector receives. */
export interface CollectedSpan {
  service: string;
  name: string;
  kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  hasFailed: boolean;
  attributes: Record<string, string | number>;
}

interface Sent {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  status: { code: number };
  attributes: SentAttribute[];
}
type SentAttribute = { key: string; value: { stringValue?: string; intValue?: number; doubleValue?: number } };
interface SentBody {
  resourceSpans: { resource: { attributes: SentAttribute[] }; scopeSpans: { spans: Sent[] }[] }[];
}

const kinds = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
const failed = 2;

/** The spans that a receiver got in the role of a collector (OTLP in JSON). */
export function spansIn(receipts: readonly Receipt[]): CollectedSpan[] {
  return receipts.flatMap(({ body }) =>
    (body as SentBody).resourceSpans.flatMap(({ resource, scopeSpans }) => {
      const service = String(valuesOf(resource.attributes)['service.name']);
      return scopeSpans.flatMap(({ spans }) => spans.map((span) => collected(service, span)));
    }),
  );
}

function collected(service: string, { kind, status, attributes, ...span }: Sent): CollectedSpan {
  const { name, traceId, spanId, parentSpanId } = span;
  const hasFailed = status.code === failed;
  const values = valuesOf(attributes);
  return {
    service,
    name,
    kind: kinds[kind] ?? 'internal',
    traceId,
    spanId,
    parentSpanId,
    hasFailed,
    attributes: values,
  };
}

const valuesOf = (attributes: readonly SentAttribute[]): Record<string, string | number> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue ?? '']),
  );
