import type { Fault, Verdict } from './signature-check.ts';

interface Words {
  title: string;
  /** The meaning of the fault, and its remedy. */
  remedy: string;
}

/** The text for each fault, in the order of the page. */
export const faultWords: Record<Fault, Words> = {
  wrong_secret: {
    title: 'Wrong secret',
    remedy:
      'Neither this body nor a common change of it matches this secret. Copy the signing secret from the page of the key that made the ride: each key has its own, and after a roll the very next delivery is signed with the new one. If the secret is right, the content of the body was changed.',
  },
  stale: {
    title: 'Too old',
    remedy:
      'A receiver refuses a signature whose time is 300 s or more away from its own. For a delivery from the past this is as it should be. If fresh deliveries are refused, correct the clock of your server.',
  },
  body_reserialised: {
    title: 'Body parsed and written again',
    remedy:
      "It matches once the JSON is written without spaces, as it was sent. Check the raw bytes of the request before anything parses them, for example with express.raw() or Flask's request.get_data().",
  },
  line_end: {
    title: 'Line end changed',
    remedy:
      'It matches with other line ends: one was added or lost at the end, or CRLF and LF were exchanged. Editors and echo do this. Keep the body as bytes, and write it to no text file.',
  },
  byte_order_mark: {
    title: 'Byte order mark added or lost',
    remedy:
      'It matches with the invisible character U+FEFF at the beginning taken away or put there. Read the body as bytes, or as UTF-8 without a byte order mark.',
  },
  prefix_missing: {
    title: 'whsec_ missing',
    remedy:
      'The key of the signature is the whole secret, with whsec_ at its beginning. Store and use it as it is shown.',
  },
  secret_decoded: {
    title: 'Secret decoded',
    remedy:
      'This signature was made with the base64-decoded secret. The key is the text of the secret itself, in UTF-8: do not decode it. Libraries for other services may do so by themselves.',
  },
  secret_spaces: {
    title: 'Spaces around the secret',
    remedy: 'It matches without the spaces or line ends around the secret. Take them away where your server keeps it.',
  },
  header_malformed: {
    title: 'Header malformed',
    remedy:
      'X-Service-Signature reads t=<Unix seconds>,v1=<64 hex digits in lower case>, without spaces. Take it as it arrived: a log may have cut it.',
  },
};

export const validWords: Words = {
  title: 'Valid',
  remedy:
    'This secret signed exactly this body. If your code refuses it all the same, put the signature that your code computes into the header as v1 and check again: this page then says what your code does differently.',
};

/** When a signature was made, in words: `Made 12 s ago.` */
export function ageWords({ ageSeconds }: Pick<Verdict, 'ageSeconds'>): string {
  if (ageSeconds === undefined) return '';
  if (ageSeconds === 0) return 'Made just now.';
  const size = durationWords(Math.abs(ageSeconds));
  return ageSeconds < 0 ? `Its time lies ${size} ahead of this computer's clock.` : `Made ${size} ago.`;
}

function durationWords(seconds: number): string {
  if (seconds < 600) return `${seconds} s`;
  if (seconds < 2 * 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}
