import type { AuditAction } from '../../../shared/accounts/audit.ts';
import type { Context } from '../../../shared/base/context.ts';
import type { Command } from '../../../shared/rides/decide.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import * as kit from '../../../web/kit/record-change.ts';
import type { FormRequest } from '../page-routes.ts';
import { described } from '../web-pages.tsx';

/** The changes of web/kit/record-change.ts for pages that are not declared yet. */

export const { refusalIn } = kit;

const of = (service: Context, request: FormRequest) => ({ ...described(service, request), sent: request.sent });

export const changeAsPartner = (
  service: Context,
  request: FormRequest,
  ride: Pick<Ride, '_id' | 'keyId'>,
  command: Command,
) => kit.changeAsPartner(of(service, request), ride, command);

export const recordChange = (
  service: Context,
  request: FormRequest,
  ride: Pick<Ride, '_id' | 'keyId' | 'events'>,
  what: AuditAction,
) => kit.recordChange(of(service, request), ride, what);

export const changeByForm = (service: Context, request: FormRequest, command: Command, what: AuditAction) =>
  kit.changeByForm(of(service, request), command, what);
