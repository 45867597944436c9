import { enterCode, newCode } from '../../shared/accounts/enter-code.ts';
import type { Browser } from '../../shared/accounts/sign-in-limits.ts';
import type { SecretsKeys } from '../../shared/base/encryption.ts';
import { randomBase62 } from '../../shared/base/ids.ts';
import { useTestContext } from './service.ts';

export const startMs = Date.parse('2026-11-21T12:00:00Z');
export const aBrowser = (device: string | null = null): Browser => ({ token: randomBase62(43), device });

/** Functions that request and enter sign-in codes and links, at any given time. */
export function useSignInCodes() {
  const ctx = useTestContext();

  const ask = (email: string, browser: Browser, nowMs = startMs, client = randomBase62(8), formId = randomBase62(22)) =>
    newCode(ctx.config, { email, browser, client, formId }, nowMs);
  async function mailFor(email: string, browser: Browser, nowMs = startMs): Promise<{ code: string; link: string }> {
    const made = await ask(email, browser, nowMs);
    if (!('code' in made)) throw new Error(`refused: ${made.tooMany}`);
    return made;
  }
  const codeFor = async (email: string, browser: Browser, nowMs = startMs) =>
    (await mailFor(email, browser, nowMs)).code;
  const enter = (email: string, browser: Browser, code: string, nowMs = startMs, formId = randomBase62(22)) =>
    enterCode(ctx.config, { email, browser, code, formId }, nowMs);
  const outcome = async (...args: Parameters<typeof enter>) => (await enter(...args)).result;
  const withKeys = (...keys: SecretsKeys) => ({ signInMailsPerHour: 500, secrets: { ...ctx.config.secrets, keys } });

  return { ctx, ask, mailFor, codeFor, enter, outcome, withKeys };
}
