import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { type LogOutput, openLogOutput } from '../../shared/base/log-output.ts';
import { onlyAllowed } from '../../shared/base/logger.ts';
import { openPipe, type TestPipe } from '../support/pipe.ts';

const flushed = (output: LogOutput) => new Promise<Error | undefined>((resolve) => output.flush(resolve));
/** A number of lines that is above the limit of waiting lines. */
const tooManyLines = 3_000;
const line = (number: number) => `${String(number).padStart(499, '.')}\n`;
/** Reads the pipe until `isAll` accepts the text. */
async function readUntil(pipe: TestPipe, isAll: (text: string) => boolean): Promise<string> {
  let text = '';
  for (text += pipe.read(); !isAll(text); text += pipe.read()) await setTimeout(5);
  return text;
}
const writeTooMany = (output: LogOutput) => {
  for (let number = 0; number < tooManyLines; number++) output.write(line(number));
};

describe('the log output', () => {
  let pipe: TestPipe;
  let output: LogOutput;
  let reported: number[];
  beforeEach(() => {
    pipe = openPipe({ nonBlocking: true });
    output = openLogOutput(pipe.writeFd);
    reported = [];
    output.onDropped = (lines) => {
      reported.push(lines);
      output.write(`dropped ${lines}\n`);
    };
  });
  afterEach(() => pipe.close());

  it('the log output writes every line once and in order, even to a slow reader', async () => {
    const written = Array.from({ length: 1_000 }, (_, number) => line(number)).join('');
    for (let number = 0; number < 1_000; number++) output.write(line(number));
    const text = await readUntil(pipe, ({ length }) => length >= written.length);
    expect(text).to.equal(written);
    expect(reported).to.deep.equal([]);
  });

  it('the log output writes lines after a short delay, and at once when flushed', async () => {
    output.write('first\n');
    expect(await readUntil(pipe, Boolean)).to.equal('first\n');
    output.write('second\n');
    await flushed(output);
    expect(pipe.read()).to.equal('second\n');
  });

  it('the log output keeps a bounded number of lines for a hanging reader, and later reports the dropped ones', async () => {
    pipe.fill();
    writeTooMany(output);
    await flushed(output);
    const linesOf = (text: string) =>
      text
        .trim()
        .split('\n')
        .filter((read) => !read.startsWith('dropped'));
    const kept = () => tooManyLines - (reported[0] ?? 0);
    const text = await readUntil(pipe, (read) => read.endsWith('\n') && linesOf(read).length >= kept());
    expect(linesOf(text)).to.deep.equal(Array.from({ length: kept() }, (_, number) => line(number).trim()));
    expect(kept()).to.be.within(2_000, 2_200);
    expect(reported).to.have.length(1);
  });

  it('the log output does not fail when the reader has closed the pipe', async () => {
    pipe.closeReader();
    for (let times = 0; times < 3; times++) {
      writeTooMany(output);
      await flushed(output);
    }
    output.flushSync();
  });

  it('the log output drops lines while the disk is full, and reports their number when writing works again', async () => {
    const full = fs.openSync('/dev/full', 'w');
    const { write } = fs;
    const onFull = openLogOutput(full);
    onFull.onDropped = output.onDropped;
    try {
      onFull.write('lost\n');
      onFull.write('lost\n');
      await flushed(onFull);
      onFull.flushSync();
      expect(reported).to.deep.equal([]);
      fs.write = ((_fd: number, bytes: Buffer, done: fs.NoParamCallback) =>
        write(pipe.writeFd, bytes, done)) as typeof write;
      onFull.write('kept\n');
      await flushed(onFull);
    } finally {
      fs.write = write;
      fs.closeSync(full);
    }
    expect(reported).to.deep.equal([2]);
    expect(pipe.read()).to.equal('kept\n');
    await flushed(output);
    expect(pipe.read()).to.equal('dropped 2\n');
  });

  it('the log output begins a new line after a line that an error cut off', async () => {
    const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'rides-log-')), 'log');
    const fd = fs.openSync(file, 'a');
    const onFile = openLogOutput(fd);
    const { write } = fs;
    let writes = 0;
    fs.write = ((to: number, bytes: Buffer, done: (error: Error | null, count?: number) => void) => {
      writes += 1;
      if (writes === 2) done(Object.assign(new Error('no space'), { code: 'ENOSPC' }));
      else write(to, writes === 1 ? bytes.subarray(0, 4) : bytes, done);
    }) as typeof write;
    try {
      onFile.write('cut off\n');
      await flushed(onFile);
      onFile.write('whole\n');
      await flushed(onFile);
    } finally {
      fs.write = write;
      fs.closeSync(fd);
    }
    expect(fs.readFileSync(file, 'utf8')).to.equal('cut \nwhole\n');
    fs.rmSync(path.dirname(file), { recursive: true });
  });

  it('the log output reports a blocked write', async () => {
    const { write } = fs;
    fs.write = (() => {}) as unknown as typeof write;
    try {
      const blocked = openLogOutput(pipe.writeFd, { blockedMs: 50 });
      blocked.write('blocks\n');
      expect(await flushed(blocked)).to.be.an('error');
    } finally {
      fs.write = write;
    }
  });

  it('the log output writes the last lines synchronously at exit, and does not wait for a hanging reader', () => {
    output.write('last\n');
    output.flushSync();
    expect(pipe.read()).to.equal('last\n');
    pipe.fill();
    output.write('lost\n');
    output.flushSync();
    expect(pipe.read().trim()).to.equal('');
  });
});

describe('log fields', () => {
  it('log fields outside the allowlist are dropped, at any depth', () => {
    const given = {
      rideId: 'ride_1',
      seq: 2,
      until: new Date(0),
      pools: ['mail'],
      error: { name: 'Error', code: 'E1', at: 'at x', message: 'CANARY', cause: { phone: 'CANARY' } },
      passenger: { name: 'CANARY' },
      phone: 'CANARY',
      body: 'CANARY',
      url: 'CANARY',
      authorization: 'CANARY',
      reason: { answer: 'CANARY' },
      outcome: [{ text: 'CANARY' }],
    };
    const kept = onlyAllowed(given);
    expect(kept).to.deep.equal({
      rideId: 'ride_1',
      seq: 2,
      until: new Date(0),
      pools: ['mail'],
      error: { name: 'Error', code: 'E1', at: 'at x' },
    });
    expect(given).to.include({ phone: 'CANARY' });
  });

  it('log fields that are all allowed are returned unchanged', () => {
    const given = { rideId: 'ride_1', outcome: 'delivered', durationMs: 3, reason: undefined };
    expect(onlyAllowed(given)).to.equal(given);
  });

  it('the fields of every log call in the source code are on the allowlist', () => {
    const call = /\blog\??(?:\.(?:debug|info|warn|error)|\[[^\]]{1,40}\])\(\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}/g;
    const calls = sources().flatMap((source) => [...source.matchAll(call)]);
    expect(calls.length).to.be.greaterThan(30);
    for (const [text, fields = ''] of calls) {
      const names = [...fields.matchAll(/(?:^|,)\s*(\w+)(?=\s*[,:]|\s*$)/g)].map(([, name = '']) => name);
      for (const name of names) {
        const value = name === 'error' || name === 'concurrency' ? {} : 1;
        expect(onlyAllowed({ [name]: value }), text).to.have.property(name);
      }
    }
  });
});

function sources(): string[] {
  const root = path.resolve(import.meta.dirname, '../..');
  return ['api', 'web', 'shared', 'workers'].flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => fs.readFileSync(path.join(root, folder, file), 'utf8')),
  );
}
