import type { Fault, Verdict } from './signature-check.ts';

interface Words {
  title: string;
  /** The cause of the fault, and what the reader can do about it. */
  remedy: string;
}

/** The text for each fault, in the order in which the page lists them. */
export const faultWords: Record<Fault, Words> = {
  no_match: {
    title: 'Body or secret does not match',
    remedy:
      'The signature was not made from this body with this secret, and no common mistake explains it: either the body was changed, or the secret is another one. Open the attempt in Deliveries and choose “Check its signature”. The check then knows the request as it was sent, and names the one that is wrong.',
  },
  wrong_body: {
    title: 'Body changed',
    remedy:
      'This is not the body that was sent. Check the bytes as your server received them: a proxy, a framework or a log may have changed them.',
  },
  wrong_secret: {
    title: 'Wrong secret',
    remedy:
      'This secret did not sign the request as it was sent. Copy the signing secret from the page of the key that created the ride, or from that of the endpoint to which the request was sent: each has its own, and after a roll the next attempt is signed with the new one.',
  },
  stale: {
    title: 'Too old',
    remedy:
      'A receiver refuses a signature whose time differs from its own clock by 300 s or more. This is expected for an old delivery. If new deliveries are refused, correct the clock of your server.',
  },
  body_reserialised: {
    title: 'Body parsed and written again',
    remedy:
      "The signature matches the JSON without spaces, as it was sent. Check the raw bytes of the request before anything parses them, for example with express.raw() or Flask's request.get_data().",
  },
  line_end: {
    title: 'Line end changed',
    remedy:
      'The signature matches with other line ends: one was added or removed at the end, or CRLF and LF were exchanged. Editors and the echo command do this. Keep the body as bytes, and do not save it as a text file.',
  },
  byte_order_mark: {
    title: 'Byte order mark added or lost',
    remedy:
      'The signature matches if the invisible character U+FEFF at the beginning is removed or added. Read the body as bytes, or as UTF-8 without a byte order mark.',
  },
  prefix_missing: {
    title: 'whsec_ missing',
    remedy:
      'The HMAC key is the whole secret, including whsec_ at its beginning. Store and use the secret as it is shown.',
  },
  secret_decoded: {
    title: 'Secret decoded',
    remedy:
      'This signature was made with the base64-decoded secret. The HMAC key is the text of the secret in UTF-8: do not decode it. Libraries for other services may decode it automatically.',
  },
  secret_spaces: {
    title: 'Spaces or invisible characters in the secret',
    remedy:
      'The signature matches without the spaces, line ends or invisible characters in the secret. Remove them where your server keeps it.',
  },
  header_malformed: {
    title: 'Header malformed',
    remedy:
      'The header must have the form t=<Unix seconds>,v1=<64 hex digits in lower case>, without spaces. Copy it exactly as it arrived: a log may have cut it.',
  },
};

export const validWords: Words = {
  title: 'Valid',
  remedy:
    'This secret signed exactly this body. If your code still refuses it, put the signature that your code computes into the header as v1 and check again: this page then shows what your code does differently.',
};

/** The place where the body differs from the one that was sent. */
export const differenceWords = ({ difference }: Pick<Verdict, 'difference'>): string =>
  difference
    ? `The first difference is at character ${difference.at}: “${difference.sent}” was sent, “${difference.checked}” was checked.`
    : '';

/** The parts that match although the signature is refused. Faults of the secret come before those of the body. */
export function matchWords({ faults }: Pick<Verdict, 'faults'>): string {
  if (faults[0] === 'wrong_body') return 'The secret is right.';
  return faults[0] === 'stale' ? 'Body and secret match.' : '';
}

/** The age of a signature in words, such as `Made 12 s ago.` */
export function ageWords({ ageSeconds }: Pick<Verdict, 'ageSeconds'>): string {
  if (ageSeconds === undefined) return '';
  if (ageSeconds === 0) return 'Made just now.';
  const size = durationWords(Math.abs(ageSeconds));
  return ageSeconds < 0 ? `Its time is ${size} ahead of this computer's clock.` : `Made ${size} ago.`;
}

function durationWords(seconds: number): string {
  if (seconds < 600) return `${seconds} s`;
  if (seconds < 2 * 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}
