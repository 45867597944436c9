import { keyHint } from '../../shared/keys/key-format.ts';
import { endSignal, sleep } from '../stack/signals.ts';
import { createMovingLine } from '../terminal/moving-line.ts';
import { styled } from '../terminal/style.ts';
import { pagesOf, printable } from './feed.ts';
import { eventLine, forward } from './forward.ts';
import type { ListenArguments } from './listen-arguments.ts';

/** The pause before the next try to reach the receiver. */
const receiverPauseMs = 1_000;

/** Forwards the events of the service at `url` until a signal arrives or the output is closed. Throws Refusal. */
export async function listenToFeed(args: ListenArguments, url: string): Promise<void> {
  const { key, secret, after } = args;
  const ending = endSignal();
  const line = createMovingLine();
  let next = after;
  const onTrouble = (why: string | undefined) => line.show(why ? `retrying: ${why}` : '');
  try {
    let isReady = false;
    for await (const { events, cursor } of pagesOf({ url, key, after, onTrouble }, ending)) {
      if (!isReady) for (const row of heading(args, url)) line.print(row);
      isReady = true;
      for (const event of events) {
        const send = () => forward(event, { url: args.forward, secret }, ending);
        let answer = await send();
        // Without a receiver, the event waits: it would otherwise be lost for this run.
        while (answer && 'problem' in answer && !answer.isSent && !ending.aborted) {
          line.show(`the receiver does not answer (${answer.problem}): its events wait`);
          await sleep(receiverPauseMs, ending);
          answer = await send();
        }
        if (ending.aborted) return;
        line.show('');
        line.print(eventLine(event, answer));
      }
      next = cursor ?? next;
    }
  } finally {
    line.end();
    if (next !== 'now') console.error(`listen: to resume from here: --after ${printable(next)}`);
  }
}

function heading({ key, forward: to, secret, isNewSecret, after }: ListenArguments, url: string): string[] {
  const beginnings: Record<string, string> = { now: 'now', first: 'with the oldest event' };
  const rows = {
    From: styled('accent', url),
    To: styled('accent', to.href),
    'Signing secret': isNewSecret ? `${styled('accent', secret)}, for this run` : 'as given',
    Begins: beginnings[after] ?? `after ${after}`,
  };
  const proxy = ['HTTPS_PROXY', 'https_proxy'].find((name) => process.env[name]);
  return [
    ...(proxy ? ['', `  ${proxy} is set, but is not used: this command connects directly.`] : []),
    '',
    `  ${styled('strong', 'Listening')}  to the events of ${keyHint(key)}; press Ctrl-C to stop`,
    '',
    ...Object.entries(rows).map(([name, value]) => `  ${name.padEnd(14)}  ${value}`),
    '',
  ];
}
