import { expect } from 'chai';
import { auditOf } from '../../shared/accounts/audit.ts';
import { keys } from '../../shared/keys/api-key.ts';
import { listKeys } from '../../shared/keys/manage-keys.ts';
import { clientOf } from './client.ts';
import { type PageAnswer, useVisitor } from './dashboard.ts';
import { type Given, useTestApi } from './service.ts';

/** The dashboard, with a visitor for each test who creates and changes keys. */
export function useKeyPages(given?: Given) {
  const api = useTestApi(given);
  const visitor = useVisitor(api);

  const owner = () => ({ accountId: visitor.account._id });
  const textOf = (html: string, testId: string) => new RegExp(`data-testid="${testId}">([^<]+)<`).exec(html)?.[1];
  const create = (fields: Record<string, string> = {}) =>
    visitor.post('/dashboard/keys', { name: 'Front desk', mode: 'test', ...fields });
  const activeKeys = async () => (await listKeys(owner())).filter(({ revokedAt }) => !revokedAt);
  const audited = async () => (await auditOf(visitor.account._id, 100)).map(({ action }) => action).reverse();
  const isAlive = async (key: string) => (await clientOf(api.url, key).get('')).status === 200;
  const stored = (keyId: string) => keys.findOne({ _id: keyId });

  /** Reads a form that is shown again: its title and, for each field, the error and the entered text. */
  function expectFault({ status, html }: PageAnswer, field: string, typed: string, words: RegExp) {
    expect(status).to.equal(422);
    expect(html).to.match(/<title>Error: /);
    expect(html).to.match(new RegExp(`<li><a href="#${field}">[^<]+</a></li>`));
    const fault = new RegExp(`id="${field}-fault">([^<]+)<`).exec(html)?.[1];
    expect(fault).to.match(words);
    expect(html).to.include(`<a href="#${field}">${fault}</a>`);
    expect(html).to.match(new RegExp(`<input id="${field}"[^>]*aria-invalid="true"`));
    const value = typed ? `value="${typed}"` : 'value ';
    expect(html).to.match(new RegExp(`<input id="${field}"[^>]* ${value}`));
  }

  return { api, visitor, owner, textOf, create, activeKeys, audited, isAlive, stored, expectFault };
}
