import { expect } from 'chai';
import type { NewKey } from '../../shared/keys/manage-keys.ts';
import { firstValues } from '../../web/kit/ride-request.ts';
import { useVisitor } from './dashboard.ts';
import { useTestApi } from './service.ts';

export const base = '/dashboard/console';

/** The test console, with a visitor and a test key for each test. */
export function useTestConsole() {
  const api = useTestApi();
  const visitor = useVisitor(api);
  const key = {} as NewKey;
  beforeEach(async () => {
    Object.assign(key, await visitor.newKey());
  });

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

  return { api, visitor, key, fields, started };
}
