import { withoutInvisible } from '../../shared/base/pasted.ts';

/** A reason why a signature does not verify. */
export type Fault =
  | 'header_malformed'
  | 'no_match'
  | 'wrong_secret'
  | 'wrong_body'
  | 'stale'
  | 'body_reserialised'
  | 'line_end'
  | 'byte_order_mark'
  | 'prefix_missing'
  | 'secret_decoded'
  | 'secret_spaces';

interface CheckInput {
  /** The value of `X-Service-Signature`, with or without the header's name. */
  header: string;
  body: string;
  secret: string;
  /** The request as it was sent, if it is known. */
  sent?: { header: string; body: string };
}

export interface Verdict {
  /** The faults of the signature; empty for a valid one. */
  faults: Fault[];
  /** For `wrong_body`: the first difference from the body as it was sent. */
  difference?: Difference;
  /** The age of the signature; negative for a time in the future, missing if its time cannot be read. */
  ageSeconds?: number;
}

/** Counts characters from 1. Both texts begin a few characters before the difference. */
interface Difference {
  at: number;
  sent: string;
  checked: string;
}

/** A receiver refuses a signature whose age is this much or more, either way (contract, section 6, rule 6). */
const maxAgeSeconds = 300;

const headerForm = /^t=(\d{1,15}),v1=([0-9a-f]{64})$/;
const bom = '\uFEFF';
const prefix = 'whsec_';

/**
 * Checks a signature as a receiver does (contract, section 6, rules 5 and 6). If it does not match, tries common
 * mistakes with the body and the secret, and names those that make it match. If none does, either the body or the
 * secret is wrong: only the request as it was sent shows which. Sends nothing.
 */
export async function checkSignature({ header, body, secret, sent }: CheckInput, nowSeconds: number): Promise<Verdict> {
  const { t, v1 } = partsOf(header);
  if (t === undefined || v1 === undefined) return { faults: ['header_malformed'] };
  const ageSeconds = nowSeconds - Number(t);
  const stale: Fault[] = Math.abs(ageSeconds) < maxAgeSeconds ? [] : ['stale'];
  const keys = await Promise.all(
    keysFrom(secret).map(async ({ bytes, faults }) => ({ key: await hmacKey(bytes), faults })),
  );
  const signature = bytesOfHex(v1);
  /** The faults of the first match, preferring the explanation with the fewest faults; null if nothing matches. */
  const explain = async (bodies: readonly BodyVariant[]): Promise<Fault[] | null> => {
    const tries = bodies
      .flatMap((tried) =>
        keys.map(({ key, faults }) => ({ key, text: tried.text, faults: [...faults, ...tried.faults] })),
      )
      .sort((a, b) => a.faults.length - b.faults.length);
    for (const { key, text, faults } of tries) {
      if (await crypto.subtle.verify('HMAC', key, signature, utf8(`${t}.${text}`))) return faults;
    }
    return null;
  };
  const faults = await explain(bodiesFrom(body));
  if (faults) return { faults: [...faults, ...stale], ageSeconds };
  if (!sent || partsOf(sent.header).v1 !== v1) return { faults: ['no_match', ...stale], ageSeconds };
  const ofSecret = (await explain([{ text: sent.body, faults: [] }])) ?? (['wrong_secret'] as const);
  const difference = differenceOf(sent.body, body);
  const ofBody: Fault[] = difference ? ['wrong_body'] : [];
  return { faults: [...ofSecret, ...ofBody, ...stale], ageSeconds, ...(difference && { difference }) };
}

/** The time and the signature of a header, with or without the header's name. */
function partsOf(header: string): { t?: string; v1?: string } {
  const [, t, v1] = headerForm.exec(header.replace(/^\s*x-service-signature:/i, '').trim()) ?? [];
  return { t, v1 };
}

const shownBefore = 12;
const shownAfter = 24;

/** The first difference between two texts; null if they are equal. */
function differenceOf(sent: string, checked: string): Difference | null {
  if (sent === checked) return null;
  let index = 0;
  while (sent[index] === checked[index]) index += 1;
  const around = (text: string) => text.slice(Math.max(0, index - shownBefore), index + shownAfter);
  return { at: index + 1, sent: around(sent), checked: around(checked) };
}

interface BodyVariant {
  text: string;
  faults: Fault[];
}

/** The pasted body, and the bodies that may have been signed instead. */
function bodiesFrom(body: string): BodyVariant[] {
  const withBom: BodyVariant[] = [
    { text: body, faults: [] },
    { text: body.startsWith(bom) ? body.slice(1) : bom + body, faults: ['byte_order_mark'] },
  ];
  return [...withBom.flatMap(withLineEnds), ...reserialised(body)];
}

function withLineEnds({ text, faults }: BodyVariant): BodyVariant[] {
  const inside = [text, text.replaceAll('\r\n', '\n'), text.replace(/\r?\n/g, '\r\n')];
  const texts = inside.flatMap((each) => {
    const bare = each.replace(/[\r\n]+$/, '');
    return [each, bare, `${bare}\n`, `${bare}\r\n`];
  });
  return [...new Set(texts)].map((each) => ({ text: each, faults: each === text ? faults : [...faults, 'line_end'] }));
}

/** The JSON of the body without spaces: the service signs it in this form. */
function reserialised(body: string): BodyVariant[] {
  try {
    const marked = body.startsWith(bom);
    const text = JSON.stringify(JSON.parse(marked ? body.slice(1) : body));
    return [{ text, faults: marked ? ['byte_order_mark', 'body_reserialised'] : ['body_reserialised'] }];
  } catch {
    return [];
  }
}

interface KeyVariant {
  bytes: Uint8Array<ArrayBuffer>;
  faults: Fault[];
}

/** The HMAC key (contract, section 6, rule 5: the bytes of the whole secret), and the keys of common mistakes. */
function keysFrom(secret: string): KeyVariant[] {
  const trimmed = withoutInvisible(secret);
  const spaces: Fault[] = trimmed === secret ? [] : ['secret_spaces'];
  const bare = trimmed.startsWith(prefix) ? trimmed.slice(prefix.length) : trimmed;
  const other = trimmed.startsWith(prefix) ? bare : prefix + trimmed;
  const decoded = [bare, trimmed].flatMap((text) => fromBase64(text) ?? []);
  const keys: KeyVariant[] = [
    { bytes: utf8(trimmed), faults: spaces },
    { bytes: utf8(other), faults: [...spaces, 'prefix_missing'] },
    ...decoded.map((bytes): KeyVariant => ({ bytes, faults: [...spaces, 'secret_decoded'] })),
  ];
  return keys.filter(({ bytes }) => bytes.length > 0);
}

const hmacKey = (bytes: Uint8Array<ArrayBuffer>) =>
  crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

const bytesOfHex = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** Decodes base64 and base64url, with or without padding; null for other text. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}
