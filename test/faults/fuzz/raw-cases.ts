import net from 'node:net';
import { formProblem } from '../../support/answer-form.ts';
import type { Malformed } from './malformed.ts';

/** Without a byte for this time, the client considers the answer complete. */
const endOfAnswerMs = 700;
const longestMs = 20_000;

export interface RawOutcome {
  problem?: string;
  /** Ids of rides whose creation was answered 201. */
  rideIds: string[];
  /** True if every answer was a refusal, or if there was none. Then no part of the bytes may be stored. */
  isRefused: boolean;
}

/** Sends malformed bytes on a new connection and checks the answers. */
export async function tryMalformed(
  url: string,
  { text, isAmbiguous, cutAt }: Malformed,
  bytes: Buffer,
): Promise<RawOutcome> {
  if (cutAt !== undefined) {
    await cutShort(url, bytes.subarray(0, Math.floor((cutAt / text.length) * bytes.length)));
    return { rideIds: [], isRefused: true };
  }
  const received = await exchange(url, bytes);
  if (received === 'hangs') return { rideIds: [], isRefused: false, problem: 'the connection is open after 20 s' };
  const answers = answersIn(received);
  if (!answers) return { rideIds: [], isRefused: false, problem: 'the bytes received are not HTTP answers' };
  const rideIds = answers.filter(({ status }) => status === 201).map((answer) => JSON.parse(answer.text).rideId);
  const problem = answers.map((answer) => formProblem(answer)).find(Boolean) ?? ambiguityProblem(isAmbiguous, answers);
  return { rideIds, isRefused: rideIds.length === 0, ...(problem && { problem }) };
}

function ambiguityProblem(isAmbiguous: boolean | undefined, answers: { status: number }[]): string | undefined {
  if (!isAmbiguous || (answers.length === 1 && answers[0]?.status === 400)) return undefined;
  return `an ambiguous request was answered ${answers.map(({ status }) => status).join(', ') || 'nothing'}`;
}

async function cutShort(url: string, bytes: Buffer): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ port: Number(port), host: hostname });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => {});
  socket.write(bytes, () => socket.resetAndDestroy());
  await closed;
}

/** All bytes that the server sends until it closes. The client half-closes once no more bytes arrive. */
function exchange(url: string, bytes: Buffer): Promise<string | 'hangs'> {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ port: Number(port), host: hostname, noDelay: true });
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    const hang = setTimeout(() => {
      socket.destroy();
      resolve('hangs');
    }, longestMs);
    const quiet = setTimeout(() => socket.end(), endOfAnswerMs);
    socket
      .on('data', (chunk) => {
        chunks.push(chunk);
        quiet.refresh();
      })
      .on('error', () => {})
      .once('close', () => {
        clearTimeout(hang);
        clearTimeout(quiet);
        resolve(Buffer.concat(chunks).toString('latin1'));
      });
    socket.write(bytes);
  });
}

/** Parses consecutive answers; null if the bytes are not HTTP answers. */
function answersIn(received: string): { status: number; head: string; text: string }[] | null {
  const answers = [];
  for (let rest = received; rest; ) {
    const headEnd = rest.indexOf('\r\n\r\n');
    const head = rest.slice(0, headEnd);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    if (headEnd < 0 || !status) return null;
    const length = Number(/^content-length: (\d+)\r?$/im.exec(head)?.[1] ?? 0);
    const bodyEnd = headEnd + 4 + length;
    if (rest.length < bodyEnd) return null;
    if (status >= 200) answers.push({ status, head, text: rest.slice(headEnd + 4, bodyEnd) });
    rest = rest.slice(bodyEnd);
  }
  return answers;
}
