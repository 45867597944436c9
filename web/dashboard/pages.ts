import type { Page } from '../kit/page.tsx';
import { key } from './key.tsx';
import { keys } from './keys.tsx';
import { newKey } from './new-key.tsx';
import { rides } from './rides.tsx';
import { team } from './team.tsx';

/** The declared pages of the dashboard. A fixed path comes before a parameter in its place. */
export const pages: readonly Page[] = [rides, keys, newKey, key, team];
