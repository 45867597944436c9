import { desk } from '../desk/desk-page.tsx';
import { deskRide } from '../desk/desk-ride.tsx';
import { deskSettings } from '../desk/desk-settings.tsx';
import { receipt } from '../desk/receipt.tsx';
import { savedPlaces } from '../desk/saved-places.tsx';
import type { Page } from '../kit/page.tsx';
import { testConsole } from './console.tsx';
import { key } from './key.tsx';
import { keys } from './keys.tsx';
import { newKey } from './new-key.tsx';
import { rides } from './rides.tsx';
import { team } from './team.tsx';

/** The declared pages of the dashboard. A fixed path comes before a parameter in its place. */
export const pages: readonly Page[] = [
  desk,
  deskRide,
  savedPlaces,
  deskSettings,
  receipt,
  keys,
  newKey,
  key,
  rides,
  testConsole,
  team,
];
