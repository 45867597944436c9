import { AppError, codeOfStatus, describeError, errorCodeHeader } from '../../shared/base/errors.ts';
import type { Logger } from '../../shared/base/logger.ts';
import { isOutageOfMongo } from '../../shared/base/mongo/outage.ts';
import type { Middleware, RequestContext } from '../part.ts';

/**
 * The only place that turns an error into a response: sets status and headers, and lets the request's part render the
 * body. If a part sends a status of 400 or more without throwing an error, adds the error code of that status.
 */
export function handleErrors(log: Logger): Middleware {
  return async (ctx, next) => {
    try {
      await next();
      addErrorCode(ctx);
    } catch (thrown) {
      answerFailure(ctx, thrown, log);
    }
  };
}

function addErrorCode({ response, headerSent }: RequestContext): void {
  const { status } = response;
  if (status < 400 || headerSent || response.get(errorCodeHeader)) return;
  response.set(errorCodeHeader, codeOfStatus(status));
}

/** Builds the response to a failed request, and logs the failure if it is on our side (5xx that no test scenario asked for). */
export function answerFailure(ctx: RequestContext, thrown: unknown, log: Logger): void {
  const { requestId, part, isSimulated } = ctx.state;
  const error = publicError(thrown);
  if (error.status >= 500 && !isSimulated) {
    log.error({ requestId, part: part.name, error: describeError(thrown) }, 'request failed');
  }
  if (ctx.headerSent) {
    // The status is already sent: closing the connection shows the client that the response is incomplete.
    ctx.res.destroy();
    return;
  }
  const { response } = ctx;
  ctx.respond = true;
  response.remove('Content-Type');
  response.status = error.status;
  response.set(error.headers);
  response.body = part.renderError(error, ctx);
}

/** An unknown error becomes a plain 500, because its message may contain private data. */
function publicError(thrown: unknown): AppError {
  if (thrown instanceof AppError) {
    return thrown.status === 503 ? new AppError(thrown.code, { headers: { 'Retry-After': '1' } }) : thrown;
  }
  if (isOutageOfMongo(thrown)) return publicError(new AppError('unavailable'));
  return new AppError('internal');
}

/** The body of an error in JSON (contract, section 7). */
export const jsonError = ({ message }: AppError): { error: string } => ({ error: message });
