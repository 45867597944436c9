import { setTimeout } from 'node:timers/promises';

/** Waits so long. Resolves with false where the signal comes first. */
export async function rested(ms: number, signal: AbortSignal): Promise<boolean> {
  return setTimeout(ms, !signal.aborted, { signal }).catch(() => false);
}
