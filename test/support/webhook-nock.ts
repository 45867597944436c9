import nock from 'nock';

/**
 * Switches nock on or off for the tests of this suite. Importing nock anywhere switches it on for the whole process; it then
 * opens connections of its own beside that of `send`, even for hosts without an interceptor.
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
