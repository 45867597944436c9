import { enterLink, openLink } from '../../shared/accounts/enter-code.ts';
import { type FoundInvitation, findInvitation } from '../../shared/accounts/invitations.ts';
import { confirmSession } from '../../shared/accounts/session.ts';
import type { Browser } from '../../shared/accounts/sign-in-limits.ts';
import type { Answer, OfDashboard, Person, PublicRequest } from '../kit/answer.ts';
import { ButtonLink, Submit } from '../kit/blocks.tsx';
import { outsidePage } from '../kit/document.tsx';
import { formIdOf } from '../kit/form-fields.ts';
import { ChangeForm } from '../kit/forms.tsx';
import { linkPath, nextPage } from '../kit/paths.ts';
import type { PublicRoute } from '../kit/public-pages.ts';
import { Joining } from './joining.tsx';
import { signInCookies } from './sign-in-cookies.ts';
import { startBrowserSession } from './start-session.ts';

/**
 * The link in a mail with a code (contract, section 1). It works only in the browser that asked for the mail. It opens
 * a page with a button, and only the button signs in or confirms the session, because mail scanners open links too.
 */
export const linkRoutes: PublicRoute<OfDashboard>[] = [
  { method: 'GET', path: '/sign-in/link/:link', answer: show },
  { method: 'POST', path: '/sign-in/link/:link', answer: use },
];

async function show(request: PublicRequest & OfDashboard): Promise<Answer> {
  const { service } = request;
  const link = request.param('link');
  const person = await request.person();
  const browser = browserOf(request, person);
  const open = browser && (await openLink(service.config, { browser, link }, service.now()));
  if (open && isForOwnAddress(person, open.email)) {
    const joining = person ? null : await findInvitation(open.invitation, service.now());
    return { html: linkPage({ email: open.email, link, isSignedIn: person !== null, joining }) };
  }
  // A person who has signed in with the code may still open the link of the same mail.
  return person ? { redirectTo: '/dashboard' } : dead();
}

async function use(request: PublicRequest & OfDashboard): Promise<Answer> {
  const { service } = request;
  const formId = formIdOf(await request.form());
  const person = await request.person();
  const browser = browserOf(request, person);
  const proof =
    browser && (await enterLink(service.config, { browser, link: request.param('link'), formId }, service.now()));
  // After a double click, the first click may already have signed in.
  if (!proof || !isForOwnAddress(person, proof.email)) return person ? { redirectTo: '/dashboard' } : dead();
  const next = nextPage(proof.next);
  if (!person) {
    const known = { ...browser, device: signInCookies(request).device(proof.email) };
    return (await startBrowserSession(request, proof, { browser: known, formId, next })) ?? dead();
  }
  await confirmSession(person.session, proof.at.getTime());
  return { redirectTo: next };
}

/** The browser to which the link is bound: by its session, or by the cookie with which it asked for the mail. */
function browserOf(request: PublicRequest & OfDashboard, person: Person | null): Browser | null {
  const { session, askedToken } = signInCookies(request);
  const token = person ? session.read() : askedToken();
  return token ? { token, device: null } : null;
}

/**
 * A link confirms a session only if it was sent to the address of the session's member. Otherwise a thief of the
 * session token could also use it as the sign-in cookie, and request a link to the thief's own address.
 */
const isForOwnAddress = (person: Person | null, email: string): boolean =>
  !person || person.account.member.email === email;

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
  return outsidePage({
    title: isSignedIn ? 'Confirm that it is you' : 'Sign in',
    children: (
      <>
        <p>
          {isSignedIn ? 'You are signed in as ' : 'You are about to sign in as '}
          <strong class="address">{email}</strong>.
        </p>
        {joining && <Joining {...joining} />}
        <ChangeForm action={linkPath(link)} class="form">
          <Submit autofocus>{isSignedIn ? 'Confirm' : 'Sign in'}</Submit>
        </ChangeForm>
      </>
    ),
  });
}

/** The answer for a link that was used, has expired, or belongs to another browser. */
function dead(): Answer {
  const html = outsidePage({
    title: 'This link does not work here',
    children: (
      <>
        <p>
          It works once, within an hour, and only in the browser that asked for it. If you asked for it in another
          browser or on another device, open the link there, or enter the code from the same mail there.
        </p>
        <p>
          <ButtonLink to="/dashboard">Go to sign in</ButtonLink>
        </p>
      </>
    ),
  });
  return { html, status: 404 };
}
