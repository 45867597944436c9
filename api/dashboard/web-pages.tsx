import type { CurrentAccount } from '../../shared/accounts/members.ts';
import type { Context } from '../../shared/base/context.ts';
import { pages } from '../../web/dashboard/pages.ts';
import type { PageRequest as DescribedRequest, Document, Answer as PageAnswer, Section } from '../../web/kit/answer.ts';
import { clientAddress } from '../http/forwarded.ts';
import { dashboardPage, PageHead } from './frame.tsx';
import {
  type Answer,
  type DashboardRoute,
  formIdOf,
  type PageRequest,
  sessionCookie,
  signedInRoutes,
  suspended,
} from './page-routes.ts';

/** The routes of the declared pages: each gets a described request, and its answer becomes a response. */
export function webRoutes(service: Context): DashboardRoute[] {
  const { page, action } = signedInRoutes(service);
  const described = ({ ctx, ...request }: PageRequest): DescribedRequest => ({
    ...request,
    service,
    requestId: ctx.state.requestId,
    from: clientAddress(ctx, service),
  });
  const cookie = sessionCookie(service.config);
  function answerWith({ ctx, account }: PageRequest, section: Section, answer: PageAnswer): Answer {
    if ('suspended' in answer) return suspended;
    if (!('document' in answer)) {
      if ('endsSession' in answer) cookie.clear(ctx);
      return answer;
    }
    const { document, status = 200, headers = {} } = answer;
    ctx.set(headers);
    return { html: renderInFrame(account, document.section ?? section, document), status };
  }
  return pages.flatMap(({ section, routes }) =>
    routes.map((route) => {
      if (route.method === 'GET') {
        return page(route.path, async (request) =>
          answerWith(request, section, await route.answer(described(request))),
        );
      }
      const act = action(
        route.path,
        async ({ form, sent, arrivedAt, ...request }) => {
          const of = { ...described(request), sent, arrivedAt, formId: formIdOf(form), text: form.text };
          return answerWith(request, section, await route.answer(of));
        },
        { ofPerson: route.ofPerson },
      );
      return act;
    }),
  );
}

/** A declared page in the frame of the dashboard. */
export const renderInFrame = (
  account: CurrentAccount,
  section: Section,
  { lead, actions, children, heading, around = (page) => page, ...frame }: Document,
): string =>
  dashboardPage({
    ...frame,
    account,
    section,
    children: around(
      <>
        <PageHead title={heading ?? frame.title} actions={actions}>
          {lead}
        </PageHead>
        {children}
      </>,
    ),
  });
