import { rm } from 'node:fs/promises';
import { closeBrowser, shotFolder } from './browser.ts';

/** Before all browser tests: the pictures of the last run go. */
export async function mochaGlobalSetup(): Promise<void> {
  await rm(shotFolder, { recursive: true, force: true });
}

export const mochaGlobalTeardown = closeBrowser;
