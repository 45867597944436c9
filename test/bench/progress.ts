export interface Progress {
  say(line: string): void;
  /** Prints a text above the progress line. */
  print(text: string): void;
  end(): void;
}

/**
 * Shows the current step and the elapsed time: on a terminal as one updating line, otherwise as one line for each step.
 */
export function newProgress(): Progress {
  const startedAt = Date.now();
  const { stderr } = process;
  let current = 'starting';
  const elapsed = () => `${Math.round((Date.now() - startedAt) / 1_000)} s`.padStart(5);
  const draw = () => stderr.write(`\r\x1b[2K${elapsed()}  ${current}`);
  const clock = stderr.isTTY ? setInterval(draw, 1_000) : undefined;
  return {
    say(line) {
      current = line;
      if (stderr.isTTY) draw();
      else stderr.write(`${elapsed()}  ${line}\n`);
    },
    print(text) {
      if (stderr.isTTY) stderr.write('\r\x1b[2K');
      console.log(text);
    },
    end() {
      clearInterval(clock);
      stderr.write(`${stderr.isTTY ? '\r\x1b[2K' : ''}${elapsed()}  done\n`);
    },
  };
}
