/** A status line (RFC 9112, section 4). The reason may be missing, and the line may end in a bare LF. */
const statusLine = /^HTTP\/1\.\d (\d{3})(?: [^\r\n]*)?\r?\n/;
const endOfHead = /\r?\n\r?\n/;

/**
 * The status of the answer at the start of these bytes, whatever follows its status line; null while the line is
 * incomplete. Skips 1xx responses.
 */
export function statusIn(received: string): number | null {
  let rest = received;
  for (;;) {
    const status = Number(statusLine.exec(rest)?.[1] ?? 0);
    if (status >= 200) return status;
    const end = status === 0 ? null : endOfHead.exec(rest);
    if (!end) return null;
    rest = rest.slice(end.index + end[0].length);
  }
}
