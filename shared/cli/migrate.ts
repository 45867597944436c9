import { readConfig } from '../config.ts';
import { migrate } from '../migrate.ts';
import { connectMongo, disconnectMongo } from '../mongo/connection.ts';
import { start } from '../start.ts';

start('migrate', async () => {
  const { secrets } = readConfig();
  // An index over many rides takes its time.
  await connectMongo(secrets.mongoUrl, { timeLimits: false });
  await migrate(secrets.keys);
  await disconnectMongo();
  console.log('indexes and the check value of SECRETS_KEY are in place');
});
