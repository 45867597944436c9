import type { IncomingMessage } from 'node:http';
import type { AppError } from '../../shared/errors.ts';

const broken = new WeakMap<IncomingMessage, AppError>();

/**
 * Notes that the rest of a request's body cannot be read, and ends a read that is under way. The request has begun, so it gives
 * its own answer: one that needs its body fails with this error, and one that ignores its body goes on.
 */
export function breakBody(request: IncomingMessage, error: AppError): void {
  broken.set(request, error);
  if (request.listenerCount('error') > 0) request.emit('error', error);
}

/** Why the rest of the body will not come, if it is known already. */
export const brokenBody = (request: IncomingMessage): AppError | undefined => broken.get(request);
