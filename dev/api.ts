import { runApi } from '../api/run-api.ts';
import { start } from '../shared/start.ts';
import { queueBoard } from './stack/queue-board.ts';

/** The API as it is in production, and beside it what only a developer may see. */
start('api', () => runApi((service) => queueBoard(service.queues)));
