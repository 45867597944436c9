import type { BrowserContextOptions } from 'playwright-core';
import type { Visitor } from '../support/dashboard.ts';

/** The options of a browser in which the visitor has signed in. */
export function asVisitor({ cookie }: Visitor, options: BrowserContextOptions = {}): BrowserContextOptions {
  const [name = '', value = ''] = cookie.split('=');
  const flags = { httpOnly: true, secure: false, sameSite: 'Lax' } as const;
  const stored = { name, value, domain: '127.0.0.1', path: '/', expires: -1, ...flags };
  return { ...options, storageState: { cookies: [stored], origins: [] } };
}
