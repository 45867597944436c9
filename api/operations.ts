import { driverOperations } from './drivers/routes.ts';
import { partnerOperations } from './partner/routes.ts';

/** The tables of operations, which the documentation describes. */
export const operations = { partner: partnerOperations, driver: driverOperations };
