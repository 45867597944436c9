import type { Tracing } from '../../shared/base/tracing.ts';
import type { Middleware } from '../types.ts';
import { requestFacts } from './request-facts.ts';

/** Makes a span of each request, in the trace of the client's `traceparent` where it sends one. Probes have none. */
export function traceRequest(tracing: Tracing): Middleware {
  return (ctx, next) => {
    const { method, state } = ctx;
    if (state.part.name === 'health') return next();
    const end = () => {
      const { status: httpStatus, ...facts } = requestFacts(ctx);
      return { name: `${method} ${facts.route}`, hasFailed: httpStatus >= 500, fields: { httpStatus, ...facts } };
    };
    return tracing.span({ name: method, kind: 'server', traceparent: ctx.get('traceparent') }, next, end);
  };
}
