import { rejectArguments } from '../shared/process/command-line.ts';
import { start } from '../shared/process/start.ts';
import { runApi } from './run-api.ts';

const usage = `Usage: npm start
       node dist/api/main.js

Runs the API. Its settings come from the environment:
MONGO_URL, REDIS_URL, SECRETS_KEY and PUBLIC_BASE_URL are
required. docs/settings.md lists them all.
Run migrate first.

For local development, npm run dev starts everything and
needs no settings.

Example
  PORT=8080 node dist/api/main.js`;

start(
  'api',
  async (args) => {
    rejectArguments(args);
    await runApi();
  },
  usage,
);
