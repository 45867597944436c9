import { createHmac, timingSafeEqual } from 'node:crypto';
import { sha256 } from '../../shared/base/ids.ts';
import type { RequestContext } from '../part.ts';

const name = 'rides_ops';
const lifetimeMs = 12 * 3_600_000;

/** The cookie for which a browser exchanges OPS_TOKEN. It holds its end and a proof, never the token. */
export function operatorsCookie(token: string, now: () => number) {
  const proofOf = (until: string) =>
    createHmac('sha256', token).update(`operators’ cookie ${until}`).digest('base64url');
  return {
    isToken: (given: string): boolean => isSame(given, token),
    write(ctx: RequestContext): void {
      const until = String(now() + lifetimeMs);
      // Not `secure`: the operators' port speaks plain HTTP, at loopback or through a tunnel.
      const options = {
        httpOnly: true,
        sameSite: 'strict',
        path: '/ops',
        maxAge: lifetimeMs,
        overwrite: true,
      } as const;
      ctx.cookies.set(name, `${until}.${proofOf(until)}`, options);
    },
    isHeld(ctx: RequestContext): boolean {
      const [until = '', proof = ''] = (ctx.cookies.get(name) ?? '').split('.');
      return isSame(proof, proofOf(until)) && Number(until) > now();
    },
  };
}

/** In constant time: hashes have one length. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(Buffer.from(sha256(a)), Buffer.from(sha256(b)));
