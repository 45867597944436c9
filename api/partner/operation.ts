import type { Context } from '../../shared/base/context.ts';
import type { Method, Operation } from '../http/operation.ts';
import type { Route } from '../http/route.ts';
import type { RideCreation } from '../rides/creation.ts';
import type { WaitingPolls } from '../streams/waiting-polls.ts';
import type { FindCaller } from './authenticate.ts';

/** The parts of a process that the routes of the partner API use. */
export interface PartnerApi {
  service: Context;
  findCaller: FindCaller;
  creation: RideCreation;
  polls: WaitingPolls;
  /** Every operation of the API. */
  operations: readonly Operation[];
}

/** An operation of the partner API: its documentation, and its route in a process. */
export interface PartnerOperation<M extends Method = Method> extends Operation<M> {
  route(api: PartnerApi): Route;
}
