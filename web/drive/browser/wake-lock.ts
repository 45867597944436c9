/**
 * Keeps the screen on while wanted and while the page is visible, because browsers release the lock of a hidden page.
 */
export function createWakeLock() {
  let isWanted = false;
  let isAsking = false;
  let lock: WakeLockSentinel | null = null;

  async function ask(): Promise<void> {
    if (!isWanted || document.hidden || lock || isAsking || !('wakeLock' in navigator)) return;
    isAsking = true;
    // A phone in power-saving mode refuses the lock; the page works without it.
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
