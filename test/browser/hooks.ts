import { rm } from 'node:fs/promises';
import { closeBrowser, shotFolder } from './browser.ts';
import { ensureChromium } from './install-chromium.ts';

/** Before all browser tests: there is a Chromium, and the pictures of the last run go. */
export async function mochaGlobalSetup(): Promise<void> {
  await ensureChromium();
  await rm(shotFolder, { recursive: true, force: true });
}

/** In each of mocha's processes, after each of its files. */
export const mochaHooks = { afterAll: closeBrowser };
