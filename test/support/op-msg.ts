import type { Socket } from 'node:net';
import mongoose from 'mongoose';

const { BSON } = mongoose.mongo;
export type Document = mongoose.mongo.BSON.Document;

/** A message from a driver: an OP_MSG, or the OP_QUERY of its first handshake. */
export interface Message {
  requestId: number;
  isQuery: boolean;
  /** True if the driver expects no answer (`w: 0`). */
  isLast: boolean;
  document: Document;
}

const opReply = 1;
const opQuery = 2004;
const opMsg = 2013;
const headerBytes = 16;
const checksumFlag = 1;
const moreToComeFlag = 2;

/** Numbers keep their BSON type, so that a document is forwarded unchanged. */
const decode = (bytes: Buffer): Document => BSON.deserialize(bytes, { promoteValues: false, bsonRegExp: true });

/** Calls `each` with every complete message from a socket, in order. */
export function onMessage(socket: Socket, each: (message: Message) => void): void {
  let pending = Buffer.alloc(0);
  socket.on('data', (bytes) => {
    pending = Buffer.concat([pending, bytes]);
    while (pending.length >= headerBytes && pending.length >= pending.readInt32LE(0)) {
      const length = pending.readInt32LE(0);
      each(parse(pending.subarray(0, length)));
      pending = pending.subarray(length);
    }
  });
}

function parse(bytes: Buffer): Message {
  const requestId = bytes.readInt32LE(4);
  const opCode = bytes.readInt32LE(12);
  if (opCode === opQuery) {
    // Skips the flags, the name of the collection, and two numbers.
    const start = bytes.indexOf(0, headerBytes + 4) + 1 + 8;
    return { requestId, isQuery: true, isLast: false, document: decode(bytes.subarray(start)) };
  }
  if (opCode !== opMsg) throw new Error(`unknown operation ${opCode}`);
  const flags = bytes.readInt32LE(headerBytes);
  const end = bytes.length - (flags & checksumFlag ? 4 : 0);
  const isLast = (flags & moreToComeFlag) !== 0;
  return { requestId, isQuery: false, isLast, document: sectionsOf(bytes.subarray(headerBytes + 4, end)) };
}

/** Decodes the body of a message. Its document sequences become fields of the result. */
function sectionsOf(bytes: Buffer): Document {
  let document: Document = {};
  for (let at = 0; at < bytes.length; ) {
    const kind = bytes[at];
    const size = bytes.readInt32LE(at + 1);
    const section = bytes.subarray(at + 1, at + 1 + size);
    if (kind === 0) document = { ...decode(section), ...document };
    else {
      const nameEnd = section.indexOf(0, 4);
      const documents: Document[] = [];
      for (let from = nameEnd + 1; from < section.length; ) {
        const length = section.readInt32LE(from);
        documents.push(decode(section.subarray(from, from + length)));
        from += length;
      }
      document[section.toString('utf8', 4, nameEnd)] = documents;
    }
    at += 1 + size;
  }
  return document;
}

/** A command in the format that a driver sends. */
export function request(requestId: number, document: Document): Buffer {
  return message(requestId, 0, opMsg, Buffer.concat([Buffer.alloc(5), BSON.serialize(document)]));
}

/** The answer to a message, in the message's format. */
export function answer({ requestId, isQuery }: Message, document: Document): Buffer {
  const body = BSON.serialize(document);
  if (!isQuery) return message(0, requestId, opMsg, Buffer.concat([Buffer.alloc(5), body]));
  // The fields of the head: flags, cursor, start, and the number of documents (one).
  const head = Buffer.alloc(20);
  head.writeInt32LE(1, 16);
  return message(0, requestId, opReply, Buffer.concat([head, body]));
}

function message(requestId: number, responseTo: number, opCode: number, body: Buffer): Buffer {
  const head = Buffer.alloc(headerBytes);
  head.writeInt32LE(headerBytes + body.length, 0);
  head.writeInt32LE(requestId, 4);
  head.writeInt32LE(responseTo, 8);
  head.writeInt32LE(opCode, 12);
  return Buffer.concat([head, body]);
}
