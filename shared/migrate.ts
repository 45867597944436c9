import { AccountModel } from './accounts/account.ts';
import { KeyModel } from './keys/api-key.ts';
import { RideModel } from './rides/ride.ts';

/** Makes every index that is missing, in the connected database. Can run at any time, and again. */
export async function migrate(): Promise<void> {
  for (const model of [AccountModel, KeyModel, RideModel]) {
    await model.createCollection();
    await model.createIndexes();
  }
}
