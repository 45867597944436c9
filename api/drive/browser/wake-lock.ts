/** Keeps the screen on while that is wanted and the page is shown. A browser takes the lock back from a hidden page. */
export function createWakeLock() {
  let isWanted = false;
  let isAsking = false;
  let lock: WakeLockSentinel | null = null;

  async function ask(): Promise<void> {
    if (!isWanted || document.hidden || lock || isAsking || !('wakeLock' in navigator)) return;
    isAsking = true;
    // A phone that saves power refuses it: the page works all the same.
    lock = await navigator.wakeLock.request('screen').catch(() => null);
    isAsking = false;
    lock?.addEventListener('release', () => {
      lock = null;
    });
    if (!isWanted) void lock?.release();
  }

  document.addEventListener('visibilitychange', () => void ask());

  return {
    want(wanted: boolean): void {
      isWanted = wanted;
      if (wanted) void ask();
      else void lock?.release();
    },
  };
}
