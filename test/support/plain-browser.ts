import { randomInt } from 'node:crypto';
import type { PageAnswer } from './dashboard.ts';
import type { TestApi } from './service.ts';

/** A browser without scripts: it keeps cookies, follows redirects and sends the forms of a page. */
export type PlainBrowser = ReturnType<typeof plainBrowser>;

interface Options {
  /** The client's address, if the API trusts one proxy hop. Default: a random address. */
  address?: string;
  headers?: Record<string, string>;
}

export const randomAddress = () => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;

export function plainBrowser({ url }: Pick<TestApi, 'url'>, options: Options = {}) {
  const { address = randomAddress(), headers: always = {} } = options;
  const cookies = new Map<string, string>();
  let page: PageAnswer & { path: string } = { status: 0, headers: new Headers(), html: '', path: '' };

  async function ask(path: string, init: RequestInit = {}): Promise<PageAnswer> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { cookie, 'x-forwarded-for': address, 'sec-fetch-site': 'same-origin', ...always, ...init.headers };
    const answer = await fetch(url + path, { redirect: 'manual', ...init, headers });
    for (const line of answer.headers.getSetCookie()) keep(line);
    const location = answer.headers.get('location');
    if (location && answer.status === 303) return ask(location);
    page = { status: answer.status, headers: answer.headers, html: await answer.text(), path };
    return page;
  }

  function keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const [, expires] = /;\s*expires=([^;]+)/i.exec(line) ?? [];
    if (expires && Date.parse(expires) <= Date.now()) cookies.delete(name);
    else cookies.set(name, value);
  }

  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    ask(path, { method: 'POST', body: new URLSearchParams(fields), headers });
  return {
    cookies,
    /** The current page. */
    get page() {
      return page;
    },
    get: (path: string) => ask(path),
    post,
    /** Sends the form that has this button, with these fields in addition to its hidden ones. */
    press(button: string, fields: Record<string, string> = {}) {
      const forms = [...page.html.matchAll(/<form [^>]*action="([^"]+)"[^>]*>(.*?)<\/form>/gs)];
      const [, action = '', body = ''] =
        forms.find(([, , inside = '']) => inside.includes(`>${button}</button>`)) ?? [];
      if (!action) throw new Error(`the page has no button ${button}`);
      const hidden = [...body.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
      const kept = Object.fromEntries(
        hidden.map(([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')]),
      );
      return post(action, { ...kept, ...fields });
    },
  };
}
