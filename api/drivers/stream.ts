import type { DriverOperation } from './driver-operation.ts';

/** This operation only opens the stream; `api/streams/followed-drivers.ts` sends the events. */
export const streamDriver: DriverOperation = {
  id: 'streamDriver',
  method: 'GET',
  path: '/stream',
  summary: 'Follow requests and ride',
  description:
    'Server-sent events `requests` (the answer of List the requests) and `ride` (the answer of Show your ride). The service sends both on connecting, then each again within a second of a change. If the connection is lost, open a new stream: it starts with the current state.',
  tag: 'trip',
  answer: {
    status: 200,
    description: 'A stream that ends when you close it, or when your key is rotated, suspended or revoked.',
    mediaType: 'text/event-stream',
    schema: { type: 'string' },
    example: 'event: requests\ndata: {"requests":[]}\n\nevent: ride\ndata: {"ride":null}\n\n',
  },
  errors: ['too_many_streams'],
  route: ({ authenticate, openStream }) => ({
    operation: streamDriver,
    async handle(ctx) {
      const { driverId } = await authenticate(ctx);
      openStream(ctx, driverId);
    },
  }),
};
