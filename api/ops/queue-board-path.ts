export const queueBoardPath = '/ops/queues';
