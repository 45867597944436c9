// Sends attempts in a separate process, so that only the sender's memory is measured. long-answers.ts starts it and
// gives orders.
import fs from 'node:fs';
import { Socket } from 'node:net';
import { send } from '../../../shared/outbound/send.ts';
import { attemptTo } from '../../support/attempt.ts';
import { certificate } from '../../support/receiver.ts';

export interface SenderOrder {
  origin: string;
  /** Concurrent attempts. */
  count: number;
}

export interface SenderReport {
  /** The outcome of each attempt, with the reason if it has one. */
  outcomes: string[];
  /** The most bytes read from one connection. */
  readBytes: number;
  /** Peak growth of the resident memory. */
  grownBytes: number;
}

const sockets: Socket[] = [];
const { connect } = Socket.prototype;
Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
  sockets.push(this);
  return Reflect.apply(connect, this, args);
} as typeof connect;

const tls = { ca: certificate };

process.on('message', async ({ origin, count }: SenderOrder) => {
  sockets.length = 0;
  const residentBytes = restartPeak();
  const results = await Promise.all(Array.from({ length: count }, () => send(attemptTo({ origin }, { tls }))));
  await Promise.all(sockets.map(untilClosed));
  const report: SenderReport = {
    outcomes: results.map(({ outcome, reason }) => [outcome, reason].join(' ').trim()),
    readBytes: Math.max(...sockets.map((socket) => socket.bytesRead)),
    grownBytes: peakBytes() - residentBytes,
  };
  process.send?.(report);
});
process.on('disconnect', () => process.exit());

/** Resets the kernel's peak memory of this process, and returns the current memory. */
function restartPeak(): number {
  fs.writeFileSync('/proc/self/clear_refs', '5');
  return peakBytes();
}

function peakBytes(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1_024;
}

function untilClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())));
}
