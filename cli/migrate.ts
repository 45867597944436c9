import { readConfig } from '../shared/base/config.ts';
import { connectMongo, disconnectMongo } from '../shared/base/mongo/connection.ts';
import { takesNoArguments } from '../shared/process/command-line.ts';
import { migrate } from '../shared/process/migrate.ts';
import { start } from '../shared/process/start.ts';

const usage = `Usage: npm run migrate
       node dist/cli/migrate.js

Makes the indexes and the check value of SECRETS_KEY in the
database of MONGO_URL, and needs these two settings alone.
Run it at each new version; it can run again at any time.

Example
  MONGO_URL=mongodb://127.0.0.1:27017/rides \\
    SECRETS_KEY=... npm run migrate`;

start(
  'migrate',
  async (args) => {
    takesNoArguments(args);
    const { secrets } = readConfig(undefined, { without: ['REDIS_URL', 'PUBLIC_BASE_URL'] });
    // Building an index over many rides is slow.
    await connectMongo(secrets.mongoUrl, { timeLimits: false });
    await migrate(secrets.keys);
    await disconnectMongo();
    console.log('indexes and the check value of SECRETS_KEY are in place');
  },
  usage,
);
