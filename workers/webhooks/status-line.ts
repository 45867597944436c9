/** A status line (RFC 9112, section 4), also without a reason, and also one that ends in a bare LF. */
const statusLine = /^HTTP\/1\.\d (\d{3})(?: [^\r\n]*)?\r?\n/;
const endOfHead = /\r?\n\r?\n/;

/**
 * The status of the answer that these bytes begin with, whatever follows its status line; null where that has not come
 * whole. Informational answers (1xx) before it are skipped.
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
