import { expect } from 'chai';
import { dashboardBase } from '../../../api/dashboard/dashboard-part.ts';
import { dashboardRoutes, type PageParts } from '../../../api/dashboard/web-pages.ts';
import { signedIn, visitorOf } from '../../support/dashboard.ts';
import { mailsTo } from '../../support/mails.ts';
import { useTestApi } from '../../support/service.ts';
import { cases, testSentForms } from './sent-forms.ts';

describe('a repeated form of an account or a key', () => testSentForms('account'));

describe('the tests of repeated forms', () => {
  const api = useTestApi();
  const routes = () =>
    dashboardRoutes(api.ctx, {} as PageParts).flatMap(({ method, path }) => (method === 'POST' ? path : []));
  const testedElsewhere = /^\/(sign-in|confirm)(\/|$)/;

  it('every form route has a test case', () => {
    const tested = new Set(Object.values(cases).flatMap((all) => Object.keys(all).map((route) => route.split(' ')[0])));
    const missing = routes().filter((path) => !tested.has(path) && !testedElsewhere.test(path));
    expect(missing, 'routes without a case here').to.deep.equal([]);
  });

  it('every route of the sign-in answers 400 without a valid form id, and sends no mail', async () => {
    const ofSigningIn = routes().filter((path) => testedElsewhere.test(path));
    expect(ofSigningIn).to.have.length(6);
    for (const path of ofSigningIn) {
      const { account, ...visitor } = await signedIn(api);
      const sender = path.startsWith('/sign-in') ? visitorOf(api, account, '') : visitor;
      const answer = await sender.post(dashboardBase + path, { email: account.email, code: '123456', formId: 'x' });
      expect(answer.status, path).to.equal(400);
      expect(await mailsTo(api.ctx, account.email), path).to.deep.equal([]);
    }
  });
});
