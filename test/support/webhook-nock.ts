import nock from 'nock';

/**
 * Whether nock stands between the tests of this suite and the network. Importing nock anywhere switches it on for the whole
 * process; then it opens connections of its own, beside the one that \`send\` has made, even for hosts that it leaves alone.
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
