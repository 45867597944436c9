import type { Config } from '../base/config.ts';
import type { Mode } from '../base/terms.ts';
import { formatUtc, type MailText, oneLine } from './mail.ts';

/** A key that was created or rotated. `from` is the address of the client that did it, or `command line`. */
export interface KeyNews {
  what: 'created' | 'rotated';
  keyId: string;
  name: string;
  mode: Mode;
  at: Date;
  from: string;
}

/** The mail that reports a new key or a rotation to the account. It contains no part of the key. */
export function keyMail(
  { publicBaseUrl }: Pick<Config, 'publicBaseUrl'>,
  to: string,
  { what, keyId, name, mode, at, from }: KeyNews,
): MailText {
  const named = `${mode} key "${oneLine(name)}"`;
  const effect =
    what === 'created'
      ? `A new ${named} was created in your account`
      : `The ${named} of your account was rotated (it has a new secret, and the old one has stopped working)`;
  return {
    to,
    subject: what === 'created' ? `A new ${named}` : `Your ${named} was rotated`,
    text: [
      `${effect} at ${formatUtc(at)}, from ${from === 'command line' ? "the operator's command line" : `the address ${from}`}.`,
      'If this was not you or a colleague, revoke the key at once:',
      `${publicBaseUrl}/dashboard/keys/${keyId}`,
    ].join('\n\n'),
  };
}
