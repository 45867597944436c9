import { createSocket } from 'node:dgram';
import ipaddr from 'ipaddr.js';

export type Question = 'A' | 'AAAA';

export type NameServer = {
  /** As `dnsResolver` takes it: `127.0.0.1:<port>`. */
  address: string;
  questions: Question[];
  close(): Promise<void>;
};

/** A name server on loopback: answers every name with what `answers` says, or not at all where it says null. */
export async function startNameServer(answers: (question: Question) => readonly string[] | null): Promise<NameServer> {
  const questions: Question[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const end = query.indexOf(0, 12) + 5;
    const question = query.readUInt16BE(end - 4) === 1 ? 'A' : 'AAAA';
    questions.push(question);
    const addresses = answers(question);
    if (addresses) socket.send(reply(query.subarray(0, end), addresses), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function reply(query: Buffer, addresses: readonly string[]): Buffer {
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180, 2); // an answer, without error
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, query.subarray(12), ...addresses.map(record)]);
}

function record(address: string): Buffer {
  const bytes = ipaddr.parse(address).toByteArray();
  const type = bytes.length === 4 ? 1 : 28;
  return Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes]);
}
