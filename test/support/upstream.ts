import net from 'node:net';
import { type Document, onMessage, request } from './op-msg.ts';

/** A proxy's connection to its server. */
export type Upstream = ReturnType<typeof connectUpstream>;

type Waiting = { resolve: (reply: Document) => void; reject: (error: Error) => void };

/** Connects to a server. Calls `onBroken` when the connection ends. */
export function connectUpstream(server: net.NetConnectOpts, onBroken: () => void) {
  const socket = net.connect({ ...server, noDelay: true } as net.NetConnectOpts);
  const waiting: Waiting[] = [];
  let requests = 0;
  socket.on('error', () => {});
  socket.on('close', () => {
    for (const { reject } of waiting.splice(0)) reject(new Error('the server is gone'));
    onBroken();
  });
  onMessage(socket, ({ document }) => waiting.shift()?.resolve(document));
  return {
    /** Resolves with the server's answer to a command. Rejects when the connection breaks. */
    ask: (command: Document) =>
      new Promise<Document>((resolve, reject) => {
        if (socket.destroyed) return reject(new Error('the server is gone'));
        requests += 1;
        waiting.push({ resolve, reject });
        socket.write(request(requests, command));
      }),
    end: () => socket.destroy(),
  };
}
