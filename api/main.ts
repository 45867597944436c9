import { start } from '../shared/start.ts';
import { runApi } from './run-api.ts';

start('api', () => runApi());
