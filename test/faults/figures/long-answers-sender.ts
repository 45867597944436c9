// Sends to whoever its parent names, so that the memory measured is the sender's alone: started by long-answers.ts.
import fs from 'node:fs';
import { Socket } from 'node:net';
import { send } from '../../../workers/webhooks/send/send.ts';
import { attemptTo } from '../../support/attempt.ts';
import { certificate } from '../../support/receiver.ts';

export interface SenderOrder {
  origin: string;
  /** Attempts at a time. */
  count: number;
}

export interface SenderReport {
  /** Of each attempt: its outcome, and the reason where there is one. */
  outcomes: string[];
  /** The most that was read of one connection. */
  readBytes: number;
  /** By how much the resident memory had grown at its highest. */
  grownBytes: number;
}

const opened: Socket[] = [];
const { connect } = Socket.prototype;
Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
  opened.push(this);
  return Reflect.apply(connect, this, args);
} as typeof connect;

const tls = { ca: certificate };

process.on('message', async ({ origin, count }: SenderOrder) => {
  opened.length = 0;
  const residentBytes = restartPeak();
  const results = await Promise.all(Array.from({ length: count }, () => send(attemptTo({ origin }, { tls }))));
  await Promise.all(opened.map(closed));
  const report: SenderReport = {
    outcomes: results.map(({ outcome, reason }) => [outcome, reason].join(' ').trim()),
    readBytes: Math.max(...opened.map((socket) => socket.bytesRead)),
    grownBytes: peakBytes() - residentBytes,
  };
  process.send?.(report);
});
process.on('disconnect', () => process.exit());

/** What the kernel keeps as this process's peak is from here on; answers the memory of now. */
function restartPeak(): number {
  fs.writeFileSync('/proc/self/clear_refs', '5');
  return peakBytes();
}

function peakBytes(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1_024;
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())));
}
