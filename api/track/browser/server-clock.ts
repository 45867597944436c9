/** Estimates the server's clock. Each message was delayed, so the server's time is never before the message's time. */
export function serverClock() {
  let samples: { aheadMs: number; at: number }[] = [];
  return {
    learn(serverNow: number): void {
      const at = performance.now();
      samples = [...samples.filter((sample) => at - sample.at < 60_000), { aheadMs: serverNow - at, at }].slice(-20);
    },
    /** Unix ms. The message with the shortest delay gives the best estimate, which is the maximum. */
    now: (): number => performance.now() + Math.max(...samples.map(({ aheadMs }) => aheadMs)),
  };
}
