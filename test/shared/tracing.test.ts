import { expect } from 'chai';
import { createLogger } from '../../shared/base/logger.ts';
import { openTelemetry } from '../../shared/base/open-telemetry.ts';
import { useReceiver } from '../support/receiver.ts';
import { spansIn } from '../support/spans.ts';

/** Trace ids that a sampler by trace id would always keep, or never. */
const low = `${'0'.repeat(31)}1`;
const high = `${'0'.repeat(24)}ffffffff`;

describe('trace sampling', () => {
  const collector = useReceiver();

  it('sampling is decided by this process, not by the flag or the id of the trace that a client sends', async () => {
    const tracing = openTelemetry({ endpoint: collector.origin, share: 0.5 }, 'test', createLogger('silent', 'test'));
    const end = () => ({ hasFailed: false, fields: {} });
    const attempt = () => tracing.span({ name: 'attempt', kind: 'client' }, async () => {}, end);
    const traces = [`00-${low}-00000000000000a1-01`, `00-${high}-00000000000000a2-00`, undefined];
    for (const traceparent of traces) {
      for (let sent = 0; sent < 100; sent++) {
        await tracing.span({ name: String(traceparent), kind: 'server', traceparent }, attempt, end);
      }
    }
    await tracing.stop();
    const spans = spansIn(collector.receipts);
    const requests = spans.filter(({ kind }) => kind === 'server');
    // A random choice would keep none or all of 100 traces only once in 2 ** 99 runs.
    for (const traceparent of traces) {
      const kept = requests.filter(({ name }) => name === String(traceparent));
      expect(kept.length, traceparent).to.be.within(1, 99);
      const [, traceId, parentSpanId] = traceparent?.split('-') ?? [];
      for (const span of traceparent ? kept : []) expect(span).to.include({ traceId, parentSpanId });
    }
    const inRequests = spans.filter(({ kind }) => kind === 'client').map(({ parentSpanId }) => parentSpanId);
    expect(inRequests).to.have.members(requests.map(({ spanId }) => spanId));
  });
});
