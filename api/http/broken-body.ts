import type { IncomingMessage } from 'node:http';
import type { AppError } from '../../shared/base/errors.ts';

const broken = new WeakMap<IncomingMessage, AppError>();

/**
 * Records that the rest of a request's body cannot be read, and fails a read in progress. The request has begun, so its own
 * handler answers: a handler that needs the body fails with this error, one that ignores the body proceeds.
 */
export function breakBody(request: IncomingMessage, error: AppError): void {
  broken.set(request, error);
  if (request.listenerCount('error') > 0) request.emit('error', error);
}

/** Why the rest of the body will not arrive, if that is known already. */
export const brokenBody = (request: IncomingMessage): AppError | undefined => broken.get(request);
