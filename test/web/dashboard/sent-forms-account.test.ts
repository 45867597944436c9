import { expect } from 'chai';
import { dashboardRoutes, type PageParts } from '../../../api/dashboard/web-pages.ts';
import { useTestApi } from '../../support/service.ts';
import { cases, testSentForms } from './sent-forms.ts';

describe('a repeated form of an account or a key', () => testSentForms('account'));

describe('the tests of repeated forms', () => {
  const api = useTestApi();

  it('every form route has a test case', () => {
    const tested = new Set(Object.values(cases).flatMap((all) => Object.keys(all).map((route) => route.split(' ')[0])));
    const routes = dashboardRoutes(api.ctx, {} as PageParts).filter(({ method }) => method === 'POST');
    const missing = routes.map(({ path }) => path).filter((path) => !tested.has(path));
    expect(missing, 'routes without a case').to.deep.equal([]);
  });
});
