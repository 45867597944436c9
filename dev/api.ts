import { runApi } from '../api/run-api.ts';
import { start } from '../shared/start.ts';
import { queueBoard } from './stack/queue-board.ts';

/** The production API, with the queue board added for the developer. */
start('api', () => runApi((service) => [queueBoard(service.queues)]));
