import { type FoundInvitation, findInvitation } from '../../../shared/accounts/invitations.ts';
import { confirmSession } from '../../../shared/accounts/session.ts';
import { enterLink, openLink } from '../../../shared/accounts/sign-in.ts';
import type { Browser } from '../../../shared/accounts/sign-in-limits.ts';
import type { Context } from '../../../shared/base/context.ts';
import { ChangeForm } from '../../../web/kit/forms.tsx';
import { linkPath, nextPage } from '../../../web/kit/paths.ts';
import { readForm } from '../../http/body.ts';
import { paramOf } from '../../http/route.ts';
import type { RequestContext } from '../../part.ts';
import { outsidePage } from '../frame.tsx';
import {
  type Answer,
  type DashboardRoute,
  findSignedIn,
  formIdOf,
  type Person,
  respond,
  suspended,
} from '../page-routes.ts';
import { signInCookies } from './cookies.ts';
import { goneInvitation, Joining } from './invitation-page.tsx';
import { startBrowserSession } from './start-session.ts';

/**
 * The link in a mail with a code (contract, section 1). It works only in the browser that asked for the mail. It opens
 * a page with a button, and only the button signs in or confirms the session, because mail scanners open links too.
 */
export function linkRoutes(service: Context): DashboardRoute[] {
  const { config } = service;
  const find = findSignedIn(service);
  const cookies = signInCookies(config);
  const dead: Answer = { html: deadLinkPage(), status: 404 };

  async function show(ctx: RequestContext): Promise<Answer> {
    const signedIn = await find(ctx);
    const token = signedIn ? cookies.session.read(ctx) : cookies.askedToken(ctx);
    const link = paramOf(ctx, 'link');
    const open = token && (await openLink(config, { browser: { token, device: null }, link }, service.now()));
    if (open && isForOwnAddress(signedIn, open.email)) {
      const joining = signedIn ? null : await findInvitation(open.invitation, service.now());
      return linkPage({ email: open.email, link, isSignedIn: signedIn !== null, joining });
    }
    // A person who has signed in with the code may still open the link of the same mail.
    return signedIn ? { redirectTo: '/dashboard' } : dead;
  }

  async function use(ctx: RequestContext): Promise<Answer> {
    const formId = formIdOf(await readForm(ctx));
    const signedIn = await find(ctx);
    const token = signedIn ? cookies.session.read(ctx) : cookies.askedToken(ctx);
    const browser: Browser = { token: token ?? '', device: null };
    const proof = token && (await enterLink(config, { browser, link: paramOf(ctx, 'link'), formId }, service.now()));
    // After a double click, the first click may already have signed in.
    if (!proof || !isForOwnAddress(signedIn, proof.email)) return signedIn ? { redirectTo: '/dashboard' } : dead;
    if (signedIn) {
      await confirmSession(signedIn.session, proof.at.getTime());
      return { redirectTo: nextPage(proof.next) };
    }
    const known = { ...browser, device: cookies.device(ctx, proof.email) };
    const isIn = await startBrowserSession(service, ctx, proof, { browser: known, formId });
    if (isIn === 'invitation is gone') return goneInvitation();
    if (isIn === 'suspended') return suspended;
    return isIn === 'started' ? { redirectTo: nextPage(proof.next) } : dead;
  }

  const path = '/sign-in/link/:link';
  return [
    { method: 'GET', path, handle: async (ctx) => respond(ctx, await show(ctx)) },
    { method: 'POST', path, handle: async (ctx) => respond(ctx, await use(ctx)) },
  ];
}

/**
 * A link confirms a session only if it was sent to the address of the session's member. Otherwise a thief of the
 * session token could also use it as the sign-in cookie, and request a link to the thief's own address.
 */
const isForOwnAddress = (signedIn: Person | null, email: string): boolean =>
  !signedIn || signedIn.account.member.email === email;

interface LinkPageProps {
  email: string;
  link: string;
  isSignedIn: boolean;
  /** The invitation that the person accepts. */
  joining: FoundInvitation | null;
}

/**
 * The page behind the link. Opening it changes nothing. Its button signs in, or confirms the session of a signed-in
 * person.
 */
function linkPage({ email, link, isSignedIn, joining }: LinkPageProps): string {
  const title = isSignedIn ? 'Confirm that it is you' : 'Sign in';
  return outsidePage({
    title,
    children: (
      <>
        <h1>{title}</h1>
        <p class="lead">
          {isSignedIn ? 'You are signed in as ' : 'You are about to sign in as '}
          <strong class="address">{email}</strong>.
        </p>
        {joining && <Joining {...joining} />}
        <ChangeForm action={linkPath(link)} class="form">
          <button class="btn" type="submit" autofocus>
            {isSignedIn ? 'Confirm' : 'Sign in'}
          </button>
        </ChangeForm>
      </>
    ),
  });
}

/** The page for a link that was used, has expired, or belongs to another browser. */
function deadLinkPage(): string {
  const title = 'This link does not work here';
  return outsidePage({
    title,
    children: (
      <>
        <h1>{title}</h1>
        <p class="lead">
          It works once, within an hour, and only in the browser that asked for it. If you asked for it in another
          browser or on another device, open the link there, or enter the code from the same mail there.
        </p>
        <p>
          <a class="btn second" href="/dashboard">
            Go to sign in
          </a>
        </p>
      </>
    ),
  });
}
