import { readConfig } from '../shared/base/config.ts';
import { connectMongo, disconnectMongo } from '../shared/base/mongo/connect-mongo.ts';
import { rejectArguments } from '../shared/process/command-line.ts';
import { migrate } from '../shared/process/migrate-database.ts';
import { start } from '../shared/process/start.ts';

const usage = `Usage: npm run migrate
       node dist/cli/migrate.js

Creates the indexes and the check value of SECRETS_KEY in
the database of MONGO_URL, and completes the data of the
version before. Requires only these two settings.
Run it for each new version, and again when no process of
the old version runs any more. Repeating it is harmless.

Example
  MONGO_URL=mongodb://127.0.0.1:27017/rides \\
    SECRETS_KEY=... npm run migrate`;

start(
  'migrate',
  async (args) => {
    rejectArguments(args);
    const { secrets } = readConfig(undefined, { without: ['REDIS_URL', 'PUBLIC_BASE_URL'] });
    // Without time limits, because building an index over many rides can exceed them.
    await connectMongo(secrets.mongoUrl, { timeLimits: false });
    await migrate(secrets.keys);
    await disconnectMongo();
    console.log('created the missing indexes and the check value of SECRETS_KEY');
  },
  usage,
);
