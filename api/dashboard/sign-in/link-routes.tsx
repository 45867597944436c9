import { confirmSession } from '../../../shared/accounts/session.ts';
import { enterLink, openLink } from '../../../shared/accounts/sign-in.ts';
import type { Browser } from '../../../shared/accounts/sign-in-limits.ts';
import type { Context } from '../../../shared/base/context.ts';
import { readForm } from '../../http/body.ts';
import type { RequestContext } from '../../part.ts';
import { type Answer, type DashboardRoute, findSignedIn, formIdOf, respond, type SignedIn } from '../visit.ts';
import { letIn } from './let-in.ts';
import { deadLinkPage, linkPage } from './link-page.tsx';
import { nextPage } from './next-page.ts';
import { signInCookies } from './sign-in-cookies.ts';

/**
 * The link of a mail with a code (contract, section 1): opened, it shows a button, since mail scanners open links too; the
 * button signs in, or confirms the session of somebody who is signed in. Only in the browser that asked.
 */
export function linkRoutes(service: Context): DashboardRoute[] {
  const { config } = service;
  const find = findSignedIn(service);
  const cookies = signInCookies(config);
  const enterSession = letIn(service);
  const linkOf = (ctx: RequestContext): string => (ctx as unknown as { params: { link: string } }).params.link;
  const dead: Answer = { html: deadLinkPage(), status: 404 };

  async function show(ctx: RequestContext): Promise<Answer> {
    const signedIn = await find(ctx);
    const token = signedIn ? cookies.session.read(ctx) : cookies.askedToken(ctx);
    const link = linkOf(ctx);
    const open = token && (await openLink(config, { browser: { token, device: null }, link }, service.now()));
    if (open && isOwn(signedIn, open.email))
      return linkPage({ email: open.email, link, isSignedIn: signedIn !== null });
    // Whoever has signed in with the code opens the link of the same mail afterwards.
    return signedIn ? { see: '/dashboard' } : dead;
  }

  async function use(ctx: RequestContext): Promise<Answer> {
    const formId = formIdOf(await readForm(ctx));
    const signedIn = await find(ctx);
    const token = signedIn ? cookies.session.read(ctx) : cookies.askedToken(ctx);
    const browser: Browser = { token: token ?? '', device: null };
    const proof = token && (await enterLink(config, { browser, link: linkOf(ctx), formId }, service.now()));
    // The first of two clicks has signed in.
    if (!proof || !isOwn(signedIn, proof.email)) return signedIn ? { see: '/dashboard' } : dead;
    if (signedIn) {
      await confirmSession(signedIn.session, proof.at.getTime());
      return { see: nextPage(proof.next) };
    }
    const known = { ...browser, device: cookies.device(ctx, proof.email) };
    return (await enterSession(ctx, proof, { browser: known, formId })) ? { see: nextPage(proof.next) } : dead;
  }

  const path = '/sign-in/link/:link';
  return [
    { method: 'GET', path, handle: async (ctx) => respond(ctx, await show(ctx)) },
    { method: 'POST', path, handle: async (ctx) => respond(ctx, await use(ctx)) },
  ];
}

/**
 * A link confirms a session for the address of its account only. A thief of a session's token could otherwise ask for a link
 * to an address of their own, with that token in the cookie of a browser that signs in.
 */
const isOwn = (signedIn: SignedIn | null, email: string): boolean => !signedIn || signedIn.account.email === email;
