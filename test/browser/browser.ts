import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type BrowserServer,
  chromium,
  type Page,
} from 'playwright-core';
import { scaled } from '../support/machine-speed.ts';
import { chromiumPath } from './install-chromium.ts';

/** Screenshots of every page that a test checked; git ignores them. */
export const shotFolder = path.join(import.meta.dirname, 'shots');

const axeSource = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/**
 * The features that Playwright disables and these tests depend on: Chromium uses only the last list. The popups of the
 * address bar are two pages of their own in each window, and needed a third of the CPU time.
 */
const disabledFeatures = [
  ...['DestroyProfileOnBrowserClose', 'HttpsFirstBalancedModeAutoEnable', 'HttpsUpgrades', 'LensOverlay'],
  ...['MediaRouter', 'OptimizationHints', 'PaintHolding', 'ThirdPartyStoragePartitioning'],
  ...['WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup', 'WebUIOmniboxPopup'],
];

/** Starts the Chromium of a test run. All mocha processes share it at its address. */
export async function launchBrowser(): Promise<BrowserServer> {
  return chromium.launchServer({
    executablePath: chromiumPath() as string,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
      ...['--disable-component-update', '--disable-sync', '--no-first-run'],
      `--disable-features=${disabledFeatures.join(',')}`,
    ],
  });
}

let connected: Promise<Browser> | undefined;

/** Disconnects from the run's Chromium, so that this mocha process can end. */
export async function disconnectBrowser(): Promise<void> {
  await (await connected?.catch(() => undefined))?.close();
  connected = undefined;
}

const profiles: BrowserContext[] = [];

/** Closes every profile that a test has opened. */
export async function closeProfiles(): Promise<void> {
  await Promise.all(profiles.splice(0).map((profile) => profile.close()));
}

/** Opens a separate browser profile. Its pages may only send requests to the tested server (`openPage`). */
export async function openProfile(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  connected ??= chromium.connect(process.env.TEST_BROWSER ?? '');
  const browser = await connected;
  const profile = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-US',
    timezoneId: 'America/New_York',
    ...options,
  });
  // The compiled tests call `__name` for functions inside those that run in the page.
  await profile.addInitScript('globalThis.__name = (value) => value');
  profile.setDefaultTimeout(scaled(30_000));
  profiles.push(profile);
  return profile;
}

/** `complaints` collects forbidden events: console messages, errors and requests to another host. */
export type TestPage = Page & { complaints: string[] };

export async function openPage(profile: BrowserContext, url: string): Promise<TestPage> {
  const page = await profile.newPage();
  const complaints: string[] = [];
  const { host } = new URL(url);
  const pages = new Set<string>();
  page.on('response', (response) => {
    if (response.request().isNavigationRequest()) pages.add(response.url());
  });
  page.on('console', (message) => {
    // Ignores the messages about a page's own status, because tests cause error pages and refused forms on purpose.
    if (!pages.has(message.location().url)) complaints.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const target = new URL(request.url());
    if (!['data:', 'blob:'].includes(target.protocol) && target.host !== host)
      complaints.push(`request to ${target.host}`);
  });
  await page.goto(url);
  return Object.assign(page, { complaints });
}

/**
 * Each page is checked on a phone in light colours and on a desktop in dark colours. Layout and colours do not depend
 * on each other, so the other two combinations would only cost time.
 */
const screens = [
  { name: '360-light', viewport: { width: 360, height: 740 }, colorScheme: 'light' },
  { name: '1280-dark', viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
] as const;

/** The state of a page: its path, and the steps that lead to the state from there. */
export type Look = readonly [name: string, path: string, prepare?: (page: TestPage) => Promise<unknown>];

/**
 * Checks pages one after another in one tab (`lookAround`). Opening another profile needs three times the CPU of opening
 * another page.
 */
export async function lookAt(origin: string, looks: readonly Look[], options: BrowserContextOptions = {}) {
  const { viewport, colorScheme } = screens[0];
  const profile = await openProfile({ ...options, viewport, colorScheme, hasTouch: true });
  const page = await openPage(profile, origin + looks[0]?.[1]);
  for (const [index, [name, path, prepare]] of looks.entries()) {
    if (index > 0) await page.goto(origin + path);
    await prepare?.(page);
    await lookAround(name, page);
  }
  await profile.close();
}

/**
 * Checks an open page on each screen in its current state: no console message, no request to another host, no serious
 * finding of axe-core, nothing wider than the screen, no field that makes a phone zoom. Saves a screenshot of each in `shots/`.
 */
export async function lookAround(name: string, page: TestPage): Promise<void> {
  await mkdir(shotFolder, { recursive: true });
  const before = page.viewportSize();
  for (const { viewport, colorScheme, name: screen } of screens) {
    const where = `${name}-${screen}`;
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await expectNotTooWide(page);
    if (viewport.width < 500) assert.deepEqual(await fieldsThatZoom(page), [], `${where}: text below 16 px`);
    const file = path.join(shotFolder, `${where}.jpg`);
    // A PNG, or a picture of the whole page, needs several times the CPU time.
    const saveShot = () => page.screenshot({ path: file, type: 'jpeg', quality: 80 });
    // On a busy machine, Chromium sometimes fails to take a screenshot.
    await saveShot().catch(saveShot);
    assert.deepEqual(await seriousFindings(page), [], `${where}: axe`);
  }
  assert.deepEqual(page.complaints, [], name);
  if (before) await page.setViewportSize(before);
}

/** The fields whose text is smaller than 16 px: when one gets the focus, an iPhone zooms in and does not zoom out. */
const fieldsThatZoom = (page: Page): Promise<string[]> =>
  page.$$eval('input:not([type="hidden"], [type="checkbox"], [type="radio"]), select, textarea', (fields) =>
    fields
      .filter((field) => Number.parseFloat(getComputedStyle(field).fontSize) < 16)
      .map((field) => field.id || field.getAttribute('name') || field.outerHTML),
  );

/** Waits until the page is laid out for its screen. Throws, with the widest parts, if it stays wider than the screen. */
export async function expectNotTooWide(page: Page): Promise<void> {
  const isNarrow = () => document.documentElement.scrollWidth <= innerWidth;
  await page.waitForFunction(isNarrow, undefined, { timeout: scaled(5_000) }).catch(async () => {
    const parts = await page.evaluate(() =>
      [...document.querySelectorAll('main *')]
        .filter((part) => part.getBoundingClientRect().right > innerWidth)
        .map((part) => `${part.tagName} ${part.className} ${Math.round(part.getBoundingClientRect().width)} px`),
    );
    throw new Error(`${page.url()} is wider than ${page.viewportSize()?.width} px: ${parts.slice(-12).join(', ')}`);
  });
}

/** The number of layout shifts since the page was opened: what moves under a person's finger. */
export const layoutShifts = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        const observer = new PerformanceObserver((list) => resolve(list.getEntries().length));
        observer.observe({ type: 'layout-shift', buffered: true });
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(0)));
      }),
  );

/**
 * The serious and critical findings of axe-core, one line each. Its script bypasses the page's content security policy.
 */
export async function seriousFindings(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(await readFile(axeSource, 'utf8'));
  return page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: axe adds itself to the window.
    const { violations } = await (window as any).axe.run({ resultTypes: ['violations'] });
    return violations
      .filter(({ impact }: { impact: string }) => impact === 'serious' || impact === 'critical')
      .map(
        ({ id, nodes }: { id: string; nodes: { html: string; failureSummary: string }[] }) =>
          `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`,
      );
  });
}

/** Tells a page that its tab is hidden, or shown again. */
export const setHidden = (page: Page, hidden: boolean): Promise<void> =>
  page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => value });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);

/** Makes a page show a state of an hour later, as if the service's clock had then been set back by an hour. */
export async function setClockBack(page: Page): Promise<void> {
  const isState = ({ pathname }: URL) => pathname.endsWith('/state');
  await page.route(isState, async (route) => {
    const response = await route.fetch();
    const state = (await response.json()) as { now: number };
    await route.fulfill({ response, json: { ...state, now: state.now + 3_600_000 } });
  });
  const answered = page.waitForResponse((response) => isState(new URL(response.url())));
  await setHidden(page, true);
  await setHidden(page, false);
  await (await answered).finished();
  await page.unroute(isState);
}
