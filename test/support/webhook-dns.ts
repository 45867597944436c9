import { createSocket } from 'node:dgram';
import ipaddr from 'ipaddr.js';
import type { Resolver } from '../../shared/outbound/resolve.ts';

export type Question = 'A' | 'AAAA';

/**
 * Creates a resolver that knows `partner.test`. All other names exist without an address, so name servers count as
 * reachable.
 */
export const onlyPartner =
  (resolver: Resolver): Resolver =>
  async (name, signal) =>
    name === 'partner.test' ? resolver(name, signal) : [];

export type NameServer = Awaited<ReturnType<typeof startNameServer>>;

/**
 * A name server on loopback. It answers every query after delayMs with the result of `answers`, or not at all if that
 * result is null. An answer that is not an address is a CNAME, and the following answers belong to that name.
 */
export async function startNameServer(answers: (question: Question) => readonly string[] | null, delayMs = 0) {
  const questions: Question[] = [];
  const socket = createSocket('udp4');
  let isOpen = true;
  socket.on('message', (query, from) => {
    const end = query.indexOf(0, 12) + 5;
    const question = query.readUInt16BE(end - 4) === 1 ? 'A' : 'AAAA';
    questions.push(question);
    const addresses = answers(question);
    if (!addresses) return;
    const send = () => socket.send(reply(query.subarray(0, end), addresses), from.port, from.address);
    if (delayMs) setTimeout(() => isOpen && send(), delayMs);
    else send();
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    /** The address for `dnsResolver`: `127.0.0.1:<port>`. */
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    close() {
      isOpen = false;
      return new Promise<void>((resolve) => socket.close(() => resolve()));
    },
  };
}

function reply(query: Buffer, answers: readonly string[]): Buffer {
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180, 2); // a response without error
  header.writeUInt16BE(answers.length, 6);
  header.writeUInt32BE(0, 8);
  let owner: Buffer = Buffer.from([0xc0, 12]); // the name of the question
  const records = answers.map((answer) => {
    const isAddress = ipaddr.isValid(answer);
    const value = isAddress ? Buffer.from(ipaddr.parse(answer).toByteArray()) : wireName(answer);
    const type = { 4: 1, 16: 28 }[isAddress ? value.length : 0] ?? 5;
    const record = Buffer.concat([owner, Buffer.from([0, type, 0, 1, 0, 0, 0, 0, 0, value.length]), value]);
    if (!isAddress) owner = value;
    return record;
  });
  return Buffer.concat([header, query.subarray(12), ...records]);
}

function wireName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}
