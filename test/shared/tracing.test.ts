import { expect } from 'chai';
import { createLogger } from '../../shared/base/logger.ts';
import { openTelemetry } from '../../shared/base/open-telemetry.ts';
import { useReceiver } from '../support/receiver.ts';
import { spansIn } from '../support/spans.ts';

/** Ids of which a sampler that goes by the trace's id keeps all or none. */
const low = `${'0'.repeat(31)}1`;
const high = `${'0'.repeat(24)}ffffffff`;

describe('the choice of the traces that are kept', () => {
  const collector = useReceiver();

  it('is made by this process: a client chooses it neither by the flag nor by the id of its trace', async () => {
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
    // A fair choice gives none or all of a hundred once in 2 ** 99 runs.
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
