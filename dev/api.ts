import { runApi } from '../api/run-api.ts';
import { start } from '../shared/start.ts';
import { mailBox } from './stack/mail-box.tsx';
import { queueBoard } from './stack/queue-board.ts';

/** The production API, with the queue board and the mail box added for the developer. */
start('api', () => runApi((service) => [queueBoard(service.queues), mailBox(service)]));
