import { setTimeout } from 'node:timers/promises';
import { newFormId } from '../../support/dashboard.ts';
import { oneOf, type Random } from '../random.ts';
import type { World } from '../world/world.ts';

export type Button =
  | 'code'
  | 'create key'
  | 'rename'
  | 'save URL'
  | 'test event'
  | 'roll'
  | 'rotate'
  | 'revoke'
  | 'resend'
  | 'resend failed'
  | 'new ride'
  | 'accept'
  | 'cancel';

/** One request of a press. */
export interface Try {
  api: string;
  /** 0 if there was no answer. */
  status: number;
  requestId: string;
  at: number;
  ms: number;
}

/** One dashboard form of a person, who repeats it until it has a final answer. */
export interface Press {
  button: Button;
  /** Presses with the same text must have one effect together: a double click, or two people with the same button. */
  effect: string;
  accountId: string;
  /** The id of the key or ride, or the e-mail address, that the form concerns. */
  about: string;
  formId: string;
  tries: Try[];
  /** The final answer: status (0 if there was none), redirect address, and secrets in the page. */
  status: number;
  location: string;
  key?: string;
  signingSecret?: string;
  /** Whether the API accepted the shown key right after. */
  works?: boolean;
}

export interface PressWish extends Pick<Press, 'button' | 'effect' | 'about'> {
  /** The path of the page that shows the form. */
  page: string;
  /** The path that the form is sent to. */
  path: string;
  /** The values that the person enters. */
  fields?: Record<string, string>;
}

/** A person with a browser. */
export interface Person {
  /**
   * Loads the page of a form. Each call of the returned function sends the form; two concurrent calls are a double
   * click.
   */
  open(wish: PressWish): Promise<() => Promise<Press>>;
}

const patienceMs = 15_000;
const retryMs = 300;
/** Time until a person stops repeating a form. */
const giveUpAfterMs = 90_000;

/** `cookie` is a session cookie. A person without one has only the cookies that the service sets. */
export function newPerson(
  { world, random, log }: { world: World; random: Random; log: Press[] },
  { accountId, cookie = '' }: { accountId: string; cookie?: string },
): Person {
  const jar = new Map(cookie ? [cookie.split('=') as [string, string]] : []);
  const address = [10, ...[0, 0, 0].map(() => Math.floor(random() * 256))].join('.');

  async function send(path: string, body?: URLSearchParams): Promise<{ made: Try; location: string; text: string }> {
    const api = oneOf(random, world.apis);
    const at = Date.now();
    const made: Try = { api: api.name, status: 0, requestId: '', at, ms: 0 };
    let text = '';
    let location = '';
    try {
      const answer = await fetch(api.url + path, {
        method: body ? 'POST' : 'GET',
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(patienceMs),
        headers: {
          cookie: [...jar].map((pair) => pair.join('=')).join('; '),
          'sec-fetch-site': 'same-origin',
          'x-forwarded-for': address,
        },
      });
      text = await answer.text();
      location = answer.headers.get('location') ?? '';
      for (const set of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        jar.set(name, value);
      }
      Object.assign(made, { status: answer.status, requestId: answer.headers.get('x-request-id') ?? '' });
    } catch {
      // No complete answer. The caller repeats the form.
    }
    made.ms = Date.now() - at;
    return { made, location, text };
  }

  /** The hidden fields of the form on the page; only a new form id if the page has no such form. */
  async function hiddenFields({ page, path }: PressWish, giveUpAt: number): Promise<Record<string, string>> {
    for (;;) {
      const { made, text } = await send(page);
      if (Date.now() > giveUpAt || (made.status > 0 && made.status < 500)) {
        const form = text
          .replaceAll(/(action="[^"#]+)#[^"]*/g, '$1')
          .split('<form ')
          .find((part) => part.slice(0, part.indexOf('>')).includes(`action="${path}"`));
        const inputs =
          form?.split('</form>')[0]?.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g) ?? [];
        return { formId: newFormId(), ...Object.fromEntries([...inputs].map(([, name, value]) => [name, value])) };
      }
      await setTimeout(retryMs);
    }
  }

  async function sendUntilAnswered(
    { page: _page, path, fields, ...wish }: PressWish,
    hidden: Record<string, string>,
  ): Promise<Press> {
    const { formId = '' } = hidden;
    const press: Press = { ...wish, accountId, formId, tries: [], status: 0, location: '' };
    log.push(press);
    const giveUpAt = Date.now() + giveUpAfterMs;
    do {
      const { made, location, text } = await send(path, new URLSearchParams({ ...hidden, ...fields }));
      press.tries.push(made);
      if (made.status > 0 && made.status < 500) {
        const [key] = /\bsvc_(test|live)_[0-9A-Za-z]{38}/.exec(text) ?? [];
        const [signingSecret] = /\bwhsec_[0-9A-Za-z+/=_-]{20,}/.exec(text) ?? [];
        return Object.assign(press, { status: made.status, location, key, signingSecret });
      }
      await setTimeout(retryMs);
    } while (Date.now() < giveUpAt);
    return press;
  }

  async function open(wish: PressWish): Promise<() => Promise<Press>> {
    const hidden = await hiddenFields(wish, Date.now() + giveUpAfterMs);
    return () => sendUntilAnswered(wish, hidden);
  }
  return { open };
}
