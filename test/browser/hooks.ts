import { rm } from 'node:fs/promises';
import { closeBrowser, shotFolder } from './browser.ts';
import { ensureChromium } from './install-chromium.ts';

/** Before all browser tests: makes sure that Chromium is installed, and deletes the screenshots of the last run. */
export async function mochaGlobalSetup(): Promise<void> {
  await ensureChromium();
  await rm(shotFolder, { recursive: true, force: true });
}

/** Runs in each of mocha's processes, after each test file. */
export const mochaHooks = { afterAll: closeBrowser };
