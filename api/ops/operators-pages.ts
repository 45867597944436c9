import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import type { OpsOptions } from '../../shared/process/ops/ops-server.ts';
import { listenerOf } from '../app.ts';
import { assetsPart } from '../pages/assets-part.ts';
import type { Part } from '../part.ts';
import type { Middleware } from '../types.ts';
import { operatorsCookie } from './operators-cookie.ts';
import { operatorsSignIn } from './operators-sign-in.tsx';
import { queueBoard } from './queue-board.ts';

/**
 * The pages at the operators' port of the API: the queues, at `/ops/queues`, for those who hold OPS_TOKEN. To all others the
 * board does not exist, and without that setting nor does the sign-in.
 */
export async function operatorsPages(service: Context): Promise<OpsOptions['pages']> {
  const parts = await operatorsParts(service);
  if (parts.length === 0) return undefined;
  return {
    owns: (path) => parts.some((part) => part.owns(path)),
    listener: listenerOf(service, parts),
  };
}

/** The parts of those pages. */
export async function operatorsParts(service: Context): Promise<Part[]> {
  const { opsToken } = service.config.secrets;
  if (!opsToken) return [];
  const cookie = operatorsCookie(opsToken, service.now);
  const admit: Middleware = (ctx, next) => {
    if (!cookie.isHeld(ctx)) throw new AppError('not_found');
    return next();
  };
  return [await queueBoard(service.queues, admit), operatorsSignIn(cookie), assetsPart()];
}
