import { rm } from 'node:fs/promises';
import type { BrowserServer } from 'playwright-core';
import { closeProfiles, disconnectBrowser, launchBrowser, shotFolder } from './browser.ts';
import { ensureChromium } from './install-chromium.ts';

let server: BrowserServer;

/** Before all browser tests: makes sure that Chromium is installed, starts it, and deletes the last run's screenshots. */
export async function mochaGlobalSetup(): Promise<void> {
  await ensureChromium();
  await rm(shotFolder, { recursive: true, force: true });
  server = await launchBrowser();
  process.env.TEST_BROWSER = server.wsEndpoint();
}

export async function mochaGlobalTeardown(): Promise<void> {
  await server?.close();
}

/** Runs in each of mocha's processes, after each test and after each test file. */
export const mochaHooks = { afterEach: closeProfiles, afterAll: disconnectBrowser };
