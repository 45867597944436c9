import { codeSentTo } from './mails.ts';
import { type PlainBrowser, plainBrowser } from './plain-browser.ts';
import { useTestApi } from './service.ts';

/** The dashboard, and browsers that request a sign-in code and use it. */
export function useSigningIn() {
  const api = useTestApi({ TRUSTED_PROXY_HOPS: '1' });

  /** A browser that has requested a sign-in code for this address. */
  async function asked(email: string, browser = plainBrowser(api), path = '/dashboard'): Promise<PlainBrowser> {
    await browser.get(path);
    await browser.press('Send code', { email });
    return browser;
  }
  async function signedIn(email: string, browser = plainBrowser(api), path = '/dashboard'): Promise<PlainBrowser> {
    await asked(email, browser, path);
    await browser.press('Sign in', { code: await codeSentTo(api.ctx, email) });
    return browser;
  }
  const isSignedIn = async (browser: PlainBrowser) => (await browser.get('/dashboard')).html.includes('Sign out');

  return { api, asked, signedIn, isSignedIn };
}
