import type { BrowserContextOptions } from 'playwright-core';
import type { Visitor } from '../support/dashboard.ts';
import { openPage, openProfile, type TestPage } from './browser.ts';

/** The options of a browser in which the visitor has signed in. */
export function asVisitor({ cookie }: Visitor, options: BrowserContextOptions = {}): BrowserContextOptions {
  const [name = '', value = ''] = cookie.split('=');
  const flags = { httpOnly: true, secure: false, sameSite: 'Lax' } as const;
  const stored = { name, value, domain: '127.0.0.1', path: '/', expires: -1, ...flags };
  return { ...options, storageState: { cookies: [stored], origins: [] } };
}

/** Opens a page in a browser in which the visitor has signed in. */
export const openAs = async (visitor: Visitor, url: string, options?: BrowserContextOptions): Promise<TestPage> =>
  openPage(await openProfile(asVisitor(visitor, options)), url);
