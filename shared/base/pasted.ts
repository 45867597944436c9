/** Texts that people paste from messages, mails and PDF files, which add what nobody sees. Pure, also for browsers. */

/** A pasted key or token without white space and invisible characters. None of our secrets contains them. */
export const withoutInvisible = (pasted: string): string => pasted.replace(/[\s\p{Cf}]/gu, '');

/** A typed or pasted code without spaces, dashes and invisible characters, and with ASCII digits. */
export const bareCode = (typed: string): string =>
  withoutInvisible(typed.normalize('NFKC'))
    .replace(/\p{Pd}/gu, '')
    .replace(/\p{Nd}/gu, asciiDigit);

/** The ASCII form of a digit, for example of an Arabic or Persian keyboard. The digits of a script are in a row. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(code - zero);
}
