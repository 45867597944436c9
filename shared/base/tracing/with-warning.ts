import { ExportResultCode } from '@opentelemetry/core';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { describeError } from '../errors.ts';
import type { Logger } from '../logging/logger.ts';

/** The exporter, with one warning for each time that the collector stops taking spans. */
export function withWarning(exporter: SpanExporter, log: Pick<Logger, 'warn'>): SpanExporter {
  let isTaken = true;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const wasTaken = isTaken;
        isTaken = result.code === ExportResultCode.SUCCESS;
        if (wasTaken && !isTaken) {
          log.warn({ error: describeError(result.error) }, 'traces are dropped: the collector does not take them');
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
