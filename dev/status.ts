import { overview } from './stack/overview.ts';
import { dataDirOf, runningStacks } from './stack/stack-state.ts';

/** `npm run dev -- status`: prints again what the newest running stack, or the one of a port, printed at its start. */
export async function showStatus(port?: number): Promise<void> {
  const stack = (await runningStacks()).find((running) => port === undefined || running.port === port);
  if (!stack) {
    const where = port === undefined ? '' : ` on port ${port}`;
    throw new Error(`no stack is running${where}: start one with npm run dev`);
  }
  const { currentTestKey } = await import('./stack/test-key.ts');
  const key = await currentTestKey(stack.env, dataDirOf(stack.port));
  const since = new Date(stack.startedAt).toTimeString().slice(0, 5);
  const state = (await answers(stack.url)) ? `has run since ${since}` : 'DOES NOT ANSWER';
  for (const line of overview({ ...stack, key, state: `${state} (process ${stack.pid})` })) console.log(line);
}

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}
