import { expect } from 'chai';
import type { Mode } from '../../shared/base/terms.ts';
import { createKey, type NewKey } from '../../shared/keys/manage-keys.ts';
import { firstValues } from '../../web/kit/ride-request.ts';
import { useVisitor, type Visitor } from './dashboard.ts';
import { newRide } from './rides.ts';
import { useTestApi } from './service.ts';

export const base = '/dashboard/console';

/** The test console, with a visitor and a test key for each test. */
export function useTestConsole() {
  const api = useTestApi();
  const visitor = useVisitor(api);
  const key = {} as NewKey;
  beforeEach(async () => {
    Object.assign(key, await keyOf(visitor));
  });

  const keyOf = ({ account }: Visitor, mode: Mode = 'test', name = 'Front desk') =>
    createKey(api.ctx.config, { accountId: account._id, name, mode });

  const fields = (changes: Record<string, string> = {}) => ({
    ...firstValues,
    key: key.keyId,
    scenario: 'no_offers',
    ...changes,
  });

  /** Starts a ride on the page. Resolves with its id. */
  async function started(changes: Record<string, string> = {}): Promise<string> {
    const { status, headers } = await visitor.post(base, fields(changes));
    expect(status).to.equal(303);
    return /^\/dashboard\/console\/(ride_\w+)$/.exec(headers.get('location') ?? '')?.[1] ?? '';
  }

  const newTestRide = (owner: Visitor, keyId: string, mode: Mode = 'test') =>
    newRide(api.ctx, { keyId, mode, accountId: owner.account._id, scenario: 'no_offers' });

  return { api, visitor, key, keyOf, fields, started, newTestRide };
}
