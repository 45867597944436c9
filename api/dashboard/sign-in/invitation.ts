import { type FoundInvitation, findInvitation, joinAccount } from '../../../shared/accounts/invitations.ts';
import { enterAccount } from '../../../shared/accounts/session.ts';
import type { Context } from '../../../shared/base/context.ts';
import { sha256 } from '../../../shared/base/ids.ts';
import { canSendMail } from '../../../shared/mail/mail.ts';
import { type Form, readForm } from '../../http/body.ts';
import { clientAddress } from '../../http/forwarded.ts';
import { paramOf } from '../../http/route.ts';
import type { RequestContext } from '../../part.ts';
import {
  type Answer,
  type DashboardRoute,
  findSignedIn,
  formIdOf,
  type Person,
  respond,
  suspended,
} from '../page-routes.ts';
import { codeSteps, noMailPage } from './code.tsx';
import { signInCookies } from './cookies.ts';
import { goneInvitation, invitationPage } from './invitation-page.tsx';

/**
 * The link of an invitation. Opening it changes nothing. Its button makes a signed-in person join; other people get a
 * code at the invited address, and join when they sign in with it. So nobody joins without access to the address.
 */
export function invitationRoutes(service: Context): DashboardRoute[] {
  const { config } = service;
  const find = findSignedIn(service);
  const cookies = signInCookies(config);
  const steps = codeSteps(service);
  const hashOf = (ctx: RequestContext) => sha256(paramOf(ctx, 'invitation'));

  async function show(ctx: RequestContext): Promise<Answer> {
    const [found, person] = await Promise.all([findInvitation(hashOf(ctx), service.now()), find(ctx)]);
    if (!found) return goneInvitation();
    // The browser gets its cookie before it requests a code.
    if (!person) cookies.browserToken(ctx);
    return invitationPage({ ...found, token: paramOf(ctx, 'invitation'), signedInAs: person?.account.member.email });
  }

  async function accept(ctx: RequestContext): Promise<Answer> {
    const form = await readForm(ctx);
    const formId = formIdOf(form);
    const person = await find(ctx);
    if (person) return join(ctx, person, form);
    const found = await findInvitation(hashOf(ctx), service.now());
    return found ? sendCode(ctx, found, formId) : goneInvitation();
  }

  async function join(ctx: RequestContext, person: Person, form: Form): Promise<Answer> {
    const { account } = person;
    const { email } = account.member;
    const from = clientAddress(ctx, service);
    const joined = await joinAccount(hashOf(ctx), { email, from }, service.now());
    if (!joined) return goneInvitation();
    if (joined === 'suspended') return suspended;
    const entering = { ...person, formId: formIdOf(form), from };
    if (joined.accountId !== account._id) await enterAccount(entering, joined, service.now());
    return { redirectTo: '/dashboard' };
  }

  async function sendCode(ctx: RequestContext, { invitation }: FoundInvitation, formId: string): Promise<Answer> {
    if (!canSendMail(config)) return { html: noMailPage(), status: 503 };
    const { email, hash } = invitation;
    const browser = { token: cookies.browserToken(ctx), device: cookies.device(ctx, email) };
    const refused = await steps.send(ctx, { email, browser, formId, next: '/dashboard', invitation: hash });
    return refused ?? { redirectTo: '/dashboard?sent' };
  }

  const path = '/sign-in/invitation/:invitation';
  return [
    { method: 'GET', path, handle: async (ctx) => respond(ctx, await show(ctx)) },
    { method: 'POST', path, handle: async (ctx) => respond(ctx, await accept(ctx)) },
  ];
}
