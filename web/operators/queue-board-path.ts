export const queueBoardPath = '/ops/queues';
export const findRidePath = '/ops/rides';
