import nock from 'nock';

/**
 * Switches nock on or off for the tests of this suite. Any import of nock activates it for the whole process; it then
 * opens additional connections besides those of `send`, even to hosts without an interceptor.
 */
export function useNock(isWanted: boolean): void {
  let wasActive = false;
  before(() => {
    wasActive = nock.isActive();
    switchNock(isWanted);
  });
  after(() => switchNock(wasActive));
}

function switchNock(isWanted: boolean): void {
  if (isWanted && !nock.isActive()) nock.activate();
  if (!isWanted && nock.isActive()) nock.restore();
}
