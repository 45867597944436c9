export type * from './call.ts';
export { type ClientOptions, RideClient } from './client.ts';
export { NoAnswerError, ServiceError, SignatureError } from './errors.ts';
export { Follower, type FollowOptions } from './follower.ts';
export type * from './generated.ts';
export { constructEvent } from './signature.ts';
