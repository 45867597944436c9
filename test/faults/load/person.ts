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
  /** 0 where there was no answer. */
  status: number;
  requestId: string;
  at: number;
  ms: number;
}

/** One form of the dashboard that a person sent, and sent again until it had a final answer. */
export interface Press {
  button: Button;
  /** Presses with the same text ask for one effect: a double click, or two people at the same button. */
  effect: string;
  accountId: string;
  /** The key, ride or address that it is about. */
  about: string;
  formId: string;
  tries: Try[];
  /** The final answer: status (0 where there never was one), address to go to, and secrets in the page. */
  status: number;
  location: string;
  key?: string;
  signingSecret?: string;
  /** Whether the key that it showed was admitted right after. */
  works?: boolean;
}

export interface PressWish extends Pick<Press, 'button' | 'effect' | 'about'> {
  /** The page that shows the form, and where it is sent to. */
  page: string;
  path: string;
  /** What the person fills in. */
  fields?: Record<string, string>;
}

/** A person with a browser. */
export interface Person {
  accountId: string;
  /** Loads the page of a form. Each call of the result sends the form, as a click does: the second of two is a double click. */
  open(wish: PressWish): Promise<() => Promise<Press>>;
  press(wish: PressWish): Promise<Press>;
}

const patienceMs = 15_000;
const againMs = 300;
/** A form is sent again for this long. */
const tiredAfterMs = 90_000;

/** `cookie`: of a session; a person without one has only the cookies that the service sets. */
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
      // No answer, or a part of one: the form is sent again.
    }
    made.ms = Date.now() - at;
    return { made, location, text };
  }

  /** The hidden fields of the form that the page shows; where it shows none, a form's id only. */
  async function hiddenFields({ page, path }: PressWish, tiredAt: number): Promise<Record<string, string>> {
    for (;;) {
      const { made, text } = await send(page);
      if (Date.now() > tiredAt || (made.status > 0 && made.status < 500)) {
        const form = text.split('<form ').find((part) => part.slice(0, part.indexOf('>')).includes(`action="${path}"`));
        const inputs =
          form?.split('</form>')[0]?.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g) ?? [];
        return { formId: newFormId(), ...Object.fromEntries([...inputs].map(([, name, value]) => [name, value])) };
      }
      await setTimeout(againMs);
    }
  }

  async function sendUntilAnswered(
    { page: _page, path, fields, ...wish }: PressWish,
    hidden: Record<string, string>,
  ): Promise<Press> {
    const { formId = '' } = hidden;
    const press: Press = { ...wish, accountId, formId, tries: [], status: 0, location: '' };
    log.push(press);
    const tiredAt = Date.now() + tiredAfterMs;
    do {
      const { made, location, text } = await send(path, new URLSearchParams({ ...hidden, ...fields }));
      press.tries.push(made);
      if (made.status > 0 && made.status < 500) {
        const [key] = /\bsvc_(test|live)_[0-9A-Za-z]{38}/.exec(text) ?? [];
        const [signingSecret] = /\bwhsec_[0-9A-Za-z+/=_-]{20,}/.exec(text) ?? [];
        return Object.assign(press, { status: made.status, location, key, signingSecret });
      }
      await setTimeout(againMs);
    } while (Date.now() < tiredAt);
    return press;
  }

  async function open(wish: PressWish): Promise<() => Promise<Press>> {
    const hidden = await hiddenFields(wish, Date.now() + tiredAfterMs);
    return () => sendUntilAnswered(wish, hidden);
  }
  return { accountId, open, press: async (wish) => (await open(wish))() };
}
