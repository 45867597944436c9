import { lineWidth, type Terminal } from '../terminal/style.ts';
import { type Figures, lineOf } from './figures.ts';

const everyMs = 250;
/** Where no line can be rewritten, because the output is no terminal. */
const quietMs = 5_000;

/** Shows a fleet's figures as one line that is rewritten. Answers how to end that, with the last figures left to read. */
export function showFigures(figures: Readonly<Figures>, out: Terminal = process.stdout): () => void {
  const { isTTY } = out;
  const show = () => {
    const line = lineOf(figures, lineWidth(out) - 1);
    out.write(isTTY ? `\r\x1b[K${line}` : `${line}\n`);
  };
  show();
  const timer = setInterval(show, isTTY ? everyMs : quietMs);
  return () => {
    clearInterval(timer);
    show();
    if (isTTY) out.write('\n');
  };
}
