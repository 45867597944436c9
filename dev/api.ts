import { findRidePart } from '../api/ops/find-ride.tsx';
import { queueBoard } from '../api/ops/queue-board.ts';
import { findRidePath, queueBoardPath } from '../api/ops/queue-board-path.ts';
import { runApi } from '../api/run-api.ts';
import { start } from '../shared/process/start.ts';
import { onlyLocal } from './stack/local-pages.ts';
import { mailBox } from './stack/mail-box.tsx';
import { receiver } from './stack/receiver.ts';

/** The production API, with the queue board and the mail box added for the developer. */
start('api', () =>
  runApi(async (service) => [
    await queueBoard(service.queues, onlyLocal('queue board', queueBoardPath)),
    findRidePart(service, onlyLocal('page that finds a ride', findRidePath)),
    mailBox(service),
    receiver(service),
  ]),
);
