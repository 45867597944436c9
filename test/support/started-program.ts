import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { scaled } from './machine-speed.ts';

/** A program that a test has started, and what it prints. */
export type StartedProgram = ReturnType<typeof startProgram>;

/** A program that prints nothing for this time hangs. */
const silenceMs = scaled(60_000);

/**
 * Starts a program, which the caller must end. `input` is its whole standard input. With `detached`, everything that the
 * program starts is ended with it.
 */
export function startProgram(
  [command = '', ...args]: readonly string[],
  { input = '', ...options }: { cwd?: string; env?: NodeJS.ProcessEnv; input?: string; detached?: boolean } = {},
) {
  const child = spawn(command, args, options);
  const news = new EventEmitter().setMaxListeners(0);
  let output = '';
  let errors = '';
  let hasEnded = false;
  child.stdin.on('error', () => {}).end(input);
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    news.emit('news');
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  const ended = once(child, 'close').then(() => {
    hasEnded = true;
    news.emit('news');
    return child.exitCode;
  });
  return {
    child,
    /** Resolves with the exit code when the program has ended, with null if a signal ended it. */
    ended,
    /** Everything on standard output so far. */
    output: () => output,
    /** The complete lines of `output`. */
    lines: () => output.split('\n').slice(0, -1),
    /** Everything on standard error so far. */
    errors: () => errors,
    /** Resolves with the first match in the output. Rejects if the program ends, or prints nothing for long, before. */
    async printed(pattern: RegExp) {
      for (;;) {
        const found = pattern.exec(output);
        if (found) return found;
        const shown = `${command} ${args.join(' ')}\nhad printed\n${output}\n${errors}`;
        if (hasEnded) throw new Error(`the program ended: ${shown}`);
        await once(news, 'news', { signal: AbortSignal.timeout(silenceMs) }).catch(() => {
          throw new Error(`the program hangs: ${shown}`);
        });
      }
    },
    /** Ends the program with a signal. Resolves like `ended`. */
    end(signal: NodeJS.Signals = 'SIGKILL') {
      if (options.detached && !hasEnded) process.kill(-(child.pid as number), signal);
      else child.kill(signal);
      return ended;
    },
  };
}
