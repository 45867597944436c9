import type { Shape } from '../../shared/base/json-schema.ts';
import type * as answers from './answers.ts';

/** What drivers are shown, for the driver's page too. Times are Unix ms. */

export type ShownRequest = Shape<typeof answers.request>;
export type ShownRide = Shape<typeof answers.ride>;
/** How a ride that was opened to a driver went on, as far as it concerns this driver. */
export type ShownOutcome = Shape<typeof answers.outcome>;
