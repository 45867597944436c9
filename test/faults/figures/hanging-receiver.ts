import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import path from 'node:path';
import { nodeCommand } from '../../../dev/servers/processes.ts';
import { dnsResolver } from '../../../shared/outbound/resolve.ts';
import { type Attempt, send } from '../../../shared/outbound/send.ts';
import { attemptTo } from '../../support/attempt.ts';
import { certificate, type RawOptions, startReceiver } from '../../support/receiver.ts';
import { onlyPartner, startNameServer } from '../../support/webhook-dns.ts';
import type { Figure, FigureResult, FigureRun } from '../figure.ts';

const [earliestMs, latestMs] = [8_000, 8_300];

/** A phase of an attempt in which the receiver hangs. `end` stops the servers that were started for it. */
interface Phase {
  what: string;
  attempt: Attempt;
  /** A status line within the time limit decides the outcome, even if its headers never end. */
  expected?: 'delivered' | 'timeout';
  end(): unknown;
}

export const hangingReceiver: Figure = {
  name: 'hanging-receiver',
  goal: '8.0 to 8.3 s on an idle machine: DNS, connect, TLS, status line and headers byte by byte',
  measure,
};

async function measure(run: FigureRun): Promise<FigureResult> {
  const trials = run.short ? 3 : 10;
  const phases = await Promise.all([silentNames(), deafHost(), slowEverywhere(), ...receivers.map(hangingPhase)]);
  const cuts = await Promise.all(phases.map((phase) => cutsOf(phase, trials)));
  await Promise.all(phases.map((phase) => phase.end()));
  for (const { what, tookMs } of cuts) run.say(`${what}: ${span(tookMs)} ms`);
  const all = cuts.flatMap(({ tookMs }) => tookMs);
  return {
    reached: `cut after ${span(all)} ms in ${phases.length} phases, ${trials} attempts in each, all concurrent`,
    violations: cuts.flatMap(({ violations }) => violations),
  };
}

async function cutsOf({ what, attempt, expected = 'timeout' }: Phase, trials: number) {
  const tookMs: number[] = [];
  const violations: string[] = [];
  const one = async () => {
    const startedAt = performance.now();
    const { outcome, reason = '' } = await send(attempt);
    const ms = performance.now() - startedAt;
    tookMs.push(ms);
    const after = `after ${ms.toFixed(1)} ms`;
    if (outcome !== expected) violations.push(`${what}: ended as '${outcome} ${reason}' ${after}`);
    else if (ms < earliestMs || ms > latestMs) violations.push(`${what}: cut ${after}`);
  };
  await Promise.all(Array.from({ length: trials }, one));
  return { what, tookMs, violations };
}

const span = (ms: number[]): string => `${Math.min(...ms).toFixed(1)} to ${Math.max(...ms).toFixed(1)}`;

/** An attempt with the service's own time limit. */
const to = (origin: string, changes: Partial<Attempt> = {}): Attempt =>
  attemptTo({ origin }, { timeoutMs: undefined, tls: { ca: certificate }, ...changes });

async function silentNames(): Promise<Phase> {
  const nameServer = await startNameServer(() => null);
  // Only the partner's name servers are silent. If others were too, the service would report a fault of this host.
  const attempt = to('https://partner.test', { resolver: onlyPartner(dnsResolver([nameServer.address])) });
  return { what: 'DNS: no answer', attempt, end: nameServer.close };
}

/** Opens connections until one gets no answer. The backlog is then full, so no further connection gets one. */
async function deafHost(): Promise<Phase> {
  const [command = '', ...args] = nodeCommand(path.join(import.meta.dirname, 'deaf-listener.ts'));
  const deaf = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const end = () => deaf.kill('SIGKILL');
  process.once('exit', end);
  const [line] = await once(deaf.stdout, 'data');
  const queued: Socket[] = [];
  const isAnswered = async () => {
    const socket = net.connect(Number(line), '127.0.0.1').on('error', () => {});
    queued.push(socket);
    return once(socket, 'connect', { signal: AbortSignal.timeout(500) }).then(
      () => true,
      () => false,
    );
  };
  while (await isAnswered());
  const close = () => {
    for (const socket of queued) socket.destroy();
    end();
  };
  return { what: 'connect: no answer', attempt: to(`http://127.0.0.1:${Number(line)}`), end: close };
}

/**
 * A receiver that is slow in two phases, 0.8 s of DNS and then endless headers, because one time limit covers all
 * phases.
 */
async function slowEverywhere(): Promise<Phase> {
  const receiver = await startReceiver({ raw: true, answer: trickle('X: y\r\n', 'HTTP/1.1 200 OK\r\n') });
  const nameServer = await startNameServer((question) => (question === 'A' ? ['127.0.0.1'] : null), 800);
  const attempt = to(`http://partner.example:${receiver.port}`, { resolver: dnsResolver([nameServer.address]) });
  return {
    what: 'DNS after 0.8 s, then endless headers',
    attempt,
    expected: 'delivered',
    end: () => Promise.all([nameServer.close(), receiver.close()]),
  };
}

const ok = 'HTTP/1.1 200 OK\r\n';
const early = 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n';
/** The start of a TLS record of 16 kB that contains a ServerHello of the same length. */
const hello = Buffer.from([22, 3, 3, 0x40, 0, 2, 0, 0x3f, 0xfc, 3, 3]);

const receivers: (Pick<Phase, 'what' | 'expected'> & { isHttps?: boolean; options: Omit<RawOptions, 'raw'> })[] = [
  { what: 'TLS: no answer', isHttps: true, options: {} },
  { what: 'TLS: byte by byte', isHttps: true, options: { answer: trickle('x', hello) } },
  { what: 'answer: none', options: {} },
  { what: 'answer: none, with TLS', options: { tls: {} } },
  { what: 'status line: byte by byte', options: { answer: trickle('x', 'HTTP/1.1 200 ') } },
  { what: 'headers: byte by byte', expected: 'delivered', options: { answer: trickle('x', `${ok}X: `) } },
  {
    what: 'headers: byte by byte, with TLS',
    expected: 'delivered',
    options: { answer: trickle('x', `${ok}X: `), tls: {} },
  },
  { what: 'headers: line by line', expected: 'delivered', options: { answer: trickle('X: y\r\n', ok) } },
  {
    what: 'headers: no end',
    expected: 'delivered',
    options: { answer: (socket) => void socket.write(`${ok}Content-Length: 0\r\n`) },
  },
  { what: 'informational answers one by one', options: { answer: trickle(early) } },
];

async function hangingPhase({ what, isHttps, expected, options }: (typeof receivers)[number]): Promise<Phase> {
  const receiver = await startReceiver({ raw: true, ...options });
  const origin = isHttps ? `https://localhost:${receiver.port}` : receiver.origin;
  return { what, attempt: to(origin), expected, end: receiver.close };
}

/** Writes `first`, and then `again` every 200 ms until the connection closes. */
function trickle(again: string, first: string | Buffer = ''): (socket: Socket) => void {
  return (socket) => {
    socket.write(first);
    const timer = setInterval(() => socket.write(again), 200);
    socket.on('close', () => clearInterval(timer));
  };
}
