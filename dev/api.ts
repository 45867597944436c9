import { runApi } from '../api/run-api.ts';
import { webPart } from '../api/web-part.ts';
import { start } from '../shared/process/start.ts';
import { findRidePages } from '../web/operators/find-ride.tsx';
import { queueBoard } from '../web/operators/queue-board.ts';
import { findRidePath, queueBoardPath } from '../web/operators/queue-board-path.ts';
import { onlyLocal } from './stack/local-pages.ts';
import { mailBox } from './stack/mail-box.tsx';
import { messageBox } from './stack/message-box.tsx';
import { receiver } from './stack/receiver.ts';

/** The production API, with the queue board and the mail box added for the developer. */
start('api', () =>
  runApi(async (service) => [
    webPart(service, await queueBoard(service.queues), { before: [onlyLocal('queue board', queueBoardPath)] }),
    webPart(service, findRidePages(service), { before: [onlyLocal('page that finds a ride', findRidePath)] }),
    mailBox(service),
    messageBox(service),
    receiver(service),
  ]),
);
