import type { Context } from '../../shared/base/context.ts';
import type { Operation } from '../../shared/base/operation.ts';
import type { Route } from '../http/route.ts';
import type { RideCreation } from '../rides/creation.ts';
import type { WaitingPolls } from '../streams/waiting-polls.ts';
import type { FindCaller } from './authenticate.ts';

/** The dependencies of the partner API's routes. */
export interface PartnerApi {
  service: Context;
  findCaller: FindCaller;
  creation: RideCreation;
  polls: WaitingPolls;
  operations: readonly Operation[];
}

/** An operation of the partner API: its documentation, and a function that creates its route. */
export interface PartnerOperation extends Operation {
  route(api: PartnerApi): Route;
}
