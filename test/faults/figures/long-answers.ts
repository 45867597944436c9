import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { nodeCommand } from '../../../dev/servers/processes.ts';
import { startReceiver } from '../../support/receiver.ts';
import type { Figure, FigureResult, FigureRun } from '../figure.ts';
import type { SenderOrder, SenderReport } from './long-answers-sender.ts';

const maxReadBytes = 65_536;
const maxGrownBytes = 20 * 1024 * 1024;
const atATime = 50;

interface LongAnswer {
  what: string;
  head: string;
  /** This part is written repeatedly until the connection closes, or only once if `isOnce`. */
  rest: string | Buffer;
  isOnce?: boolean;
  outcome: string;
}

const ok = 'HTTP/1.1 200 OK\r\n';
const filler = 'x'.repeat(16_384);
const gzip = `${ok}Content-Encoding: gzip\r\n`;
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;

export const longAnswers: Figure = {
  name: 'long-answers',
  goal: 'at most 65,536 bytes read of each, memory up by at most 20 MB with 50 of them',
  measure,
};

async function measure(run: FigureRun): Promise<FigureResult> {
  const rounds = run.short ? 1 : 5;
  const violations: string[] = [];
  const [command = '', ...args] = nodeCommand(path.join(import.meta.dirname, 'long-answers-sender.ts'));
  const sender = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const worst = { readBytes: 0, grownBytes: 0 };
  const kinds = longAnswerKinds();
  let attempts = 0;
  try {
    await warmUp(sender);
    for (const tls of [undefined, {}]) {
      for (const answer of kinds) {
        const what = `${answer.what}${tls ? ', with TLS' : ''}`;
        const receiver = await startReceiver({ raw: true, answer: (socket) => pour(socket, answer), tls });
        for (let round = 0; round < rounds; round++) {
          const report = await order(sender, { origin: receiver.origin, count: atATime });
          attempts += atATime;
          worst.readBytes = Math.max(worst.readBytes, report.readBytes);
          worst.grownBytes = Math.max(worst.grownBytes, report.grownBytes);
          run.say(`${what}: ${report.readBytes} bytes read, memory up by ${megabytes(report.grownBytes)}`);
          violations.push(...violationsOf(report, answer).map((line) => `${what}: ${line}`));
        }
        await receiver.close();
      }
    }
  } finally {
    sender.kill('SIGKILL');
  }
  const reached =
    `at most ${worst.readBytes} bytes read of an answer, memory up by at most ${megabytes(worst.grownBytes)} ` +
    `with ${atATime} at a time (${attempts} attempts, ${kinds.length} kinds of answer, with and without TLS)`;
  return { reached, violations };
}

function longAnswerKinds(): LongAnswer[] {
  /** 32 kB compressed, 32 MB inflated. `greatBomb` is longer than the read limit even when compressed. */
  const bomb = gzipSync(Buffer.alloc(32 << 20));
  const greatBomb = Buffer.concat(Array.from({ length: 8 }, () => bomb));
  return [
    { what: 'a body without end', head: `${ok}\r\n`, rest: filler, outcome: 'delivered' },
    { what: 'a body of 9 GB', head: `${ok}Content-Length: 9000000000\r\n\r\n`, rest: filler, outcome: 'delivered' },
    { what: 'chunks without end', head: chunked, rest: `4000\r\n${filler}\r\n`, outcome: 'delivered' },
    { what: 'chunks of one byte', head: chunked, rest: '1\r\nx\r\n'.repeat(2_000), outcome: 'delivered' },
    { what: 'a chunk extension without end', head: `${chunked}1;x=`, rest: filler, outcome: 'delivered' },
    { what: 'trailers without end', head: `${chunked}0\r\n`, rest: `X: ${'y'.repeat(100)}\r\n`, outcome: 'delivered' },
    {
      what: 'a gzip body of 32 MB',
      head: `${gzip}Content-Length: ${bomb.length}\r\n\r\n`,
      rest: bomb,
      isOnce: true,
      outcome: 'delivered',
    },
    { what: 'a gzip body of 256 MB', head: `${gzip}\r\n`, rest: greatBomb, isOnce: true, outcome: 'delivered' },
    { what: 'gzip bodies without end', head: `${gzip}\r\n`, rest: bomb, outcome: 'delivered' },
    {
      what: 'header lines without end',
      head: ok,
      rest: `X: ${'y'.repeat(100)}\r\n`,
      outcome: 'delivered',
    },
    { what: 'one header without end', head: `${ok}X: `, rest: filler, outcome: 'delivered' },
    { what: 'a status line without end', head: 'HTTP/1.1 200 ', rest: filler, outcome: 'failed answer_too_long' },
    {
      what: 'informational answers without end',
      head: '',
      rest: 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(500),
      outcome: 'failed answer_too_long',
    },
    {
      what: 'long informational answers without end',
      head: '',
      rest: `HTTP/1.1 103 Early Hints\r\nLink: ${'x'.repeat(12_000)}\r\n\r\n`,
      outcome: 'failed answer_too_long',
    },
  ];
}

function violationsOf({ outcomes, readBytes, grownBytes }: SenderReport, { outcome }: LongAnswer): string[] {
  const others = outcomes.filter((reached) => reached !== outcome);
  return [
    ...(others.length > 0
      ? [`${others.length} of ${outcomes.length} ended with '${others[0]}', not '${outcome}'`]
      : []),
    ...(readBytes > maxReadBytes ? [`${readBytes} bytes read`] : []),
    ...(grownBytes > maxGrownBytes ? [`memory up by ${megabytes(grownBytes)}`] : []),
  ];
}

/**
 * Sends the same number of attempts to a normal receiver first, so that their memory is not counted for the long
 * answers.
 */
async function warmUp(sender: ChildProcess): Promise<void> {
  for (const tls of [undefined, {}]) {
    const receiver = await startReceiver({
      raw: true,
      answer: (socket) => socket.end(`${ok}Content-Length: 0\r\n\r\n`),
      tls,
    });
    for (let round = 0; round < 4; round++) await order(sender, { origin: receiver.origin, count: atATime });
    await receiver.close();
  }
}

async function order(sender: ChildProcess, what: SenderOrder): Promise<SenderReport> {
  const report = once(sender, 'message', { signal: AbortSignal.timeout(30_000) });
  sender.send(what);
  const [message] = await report;
  return message as SenderReport;
}

function pour(socket: Socket, { head, rest, isOnce }: LongAnswer): void {
  socket.write(head);
  if (isOnce) return void socket.end(rest);
  const more = () => {
    while (!socket.destroyed && socket.write(rest));
  };
  socket.on('drain', more);
  more();
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
