import fs from 'node:fs';
import net from 'node:net';

/**
 * A separate process that floods one address: `node flooder.ts <url> <idle> <slow> <ms>`. It keeps `idle` silent
 * connections and `slow` slow ones open, and reopens each connection that is cut. At the end it prints this result as
 * one line of JSON.
 */
export interface Flood {
  /** The lowest number of open connections after all had been opened once. */
  leastIdle: number;
  leastSlow: number;
  opened: number;
  refused: number;
  /** Number of slow connections that were cut, by kind, and the longest time until a cut in ms. */
  cut: Record<string, { times: number; longestMs: number }>;
}

const head = 'POST /v1/rides HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
const long = 'Content-Length: 16000\r\n\r\n';
type Way = { first: string; drip?: string; everyMs: number };

const ways: Record<string, (key: string) => Way> = {
  'headers byte by byte': () => ({
    first: 'G',
    drip: 'ET /v1/rides/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    everyMs: 400,
  }),
  'headers without an end': () => ({ first: head, drip: 'X-A: b\r\n', everyMs: 1_500 }),
  'half a request line': () => ({ first: 'POST /v1/ri', everyMs: 0 }),
  'headers, then nothing': (key) => ({ first: `${head}X-Api-Key: ${key}\r\n`, everyMs: 0 }),
  'body byte by byte': (key) => ({ first: `${head}X-Api-Key: ${key}\r\n${long}{"notes":"`, drip: 'x', everyMs: 400 }),
  'body that never begins': (key) => ({ first: `${head}X-Api-Key: ${key}\r\n${long}`, everyMs: 0 }),
  'chunks without an end': (key) => ({
    first: `${head}X-Api-Key: ${key}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
    drip: '1\r\n \r\n',
    everyMs: 900,
  }),
  'body of a cancel': (key) => ({
    first: `POST /v1/rides/x/cancel HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${key}\r\n${long}`,
    drip: 'x',
    everyMs: 700,
  }),
  'without a key': () => ({ first: `${head}${long}`, drip: 'x', everyMs: 700 }),
};

/**
 * The first connections are opened over 10 s, so that the server does not cut all of them at the same time. A cut
 * connection is reopened immediately. The server checks only every 2 s for connections to cut, and then cuts many at
 * once, so more connections are opened than required.
 */
const rampMs = 10_000;
const surplus = 1.35;
const tickMs = 20;

function flood(url: string, key: string, idle: number, slow: number, forMs: number): void {
  const { hostname, port } = new URL(url);
  const until = performance.now() + forMs;
  const result: Flood = {
    leastIdle: Number.MAX_SAFE_INTEGER,
    leastSlow: Number.MAX_SAFE_INTEGER,
    opened: 0,
    refused: 0,
    cut: {},
  };
  const open = { idle: 0, slow: 0 };
  const names = Object.keys(ways);
  /** Connections that have not been opened yet. */
  const waiting: (() => void)[] = [];
  const openAtOnce = Math.ceil(((idle + slow) * surplus * tickMs) / rampMs);

  const connect = (begin: (socket: net.Socket) => void, again: () => void) => {
    const socket = net.connect({ port: Number(port), host: hostname });
    socket.once('connect', () => {
      result.opened += 1;
      begin(socket);
    });
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED' || code === 'EMFILE' || code === 'EADDRNOTAVAIL') result.refused += 1;
    });
    socket.once('close', again);
    socket.resume();
  };
  const openIdle = () =>
    connect((socket) => {
      open.idle += 1;
      socket.once('close', () => {
        open.idle -= 1;
      });
    }, openIdle);
  const openSlow = (name: string) =>
    connect(
      (socket) => {
        const startedAt = performance.now();
        const { first, drip: more = '', everyMs } = (ways[name] as (key: string) => Way)(key);
        open.slow += 1;
        socket.write(first);
        let sent = 0;
        const drip = setInterval(() => {
          if (!more || !socket.writable) return;
          // One byte, or a whole line if the text consists of lines.
          socket.write(more.includes('\r\n') ? more : (more[sent++ % more.length] ?? ''));
        }, everyMs || 60_000);
        socket.once('close', () => {
          clearInterval(drip);
          open.slow -= 1;
          if (performance.now() > until) return;
          result.cut[name] ??= { times: 0, longestMs: 0 };
          const cut = result.cut[name];
          cut.times += 1;
          cut.longestMs = Math.max(cut.longestMs, Math.round(performance.now() - startedAt));
        });
      },
      () => openSlow(name),
    );

  const every = Math.max(1, Math.floor(idle / slow));
  for (let n = 0; n < Math.max(idle, slow * every) * surplus; n++) {
    if (n < idle * surplus) waiting.push(openIdle);
    if (n % every === 0) waiting.push(() => openSlow(names[(n / every) % names.length] as string));
  }
  let isFull = false;
  const opening = setInterval(() => {
    for (const start of waiting.splice(0, openAtOnce)) start();
    isFull ||= waiting.length === 0 && open.idle >= idle && open.slow >= slow;
    if (isFull) {
      result.leastIdle = Math.min(result.leastIdle, open.idle);
      result.leastSlow = Math.min(result.leastSlow, open.slow);
    }
  }, tickMs);
  setTimeout(() => {
    clearInterval(opening);
    if (!isFull) Object.assign(result, { leastIdle: open.idle, leastSlow: open.slow });
    fs.writeSync(1, `${JSON.stringify(result)}\n`);
    process.exit(0);
  }, forMs);
}

const [, , url = '', idle, slow, forMs] = process.argv;
// The key is a secret, so it is not passed on the command line.
flood(url, process.env.FLOOD_KEY ?? '', Number(idle), Number(slow), Number(forMs));
