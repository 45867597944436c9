import { readConfig } from '../config.ts';
import { migrate } from '../migrate.ts';
import { connectMongo, disconnectMongo } from '../mongo.ts';
import { start } from '../start.ts';

start('migrate', async () => {
  // An index over many rides takes its time.
  await connectMongo(readConfig().secrets.mongoUrl, { patient: true });
  await migrate();
  await disconnectMongo();
  console.log('indexes are in place');
});
