import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = fs.constants;
/** The capacity of a pipe on Linux. */
const pipeSize = 65_536;

export type TestPipe = ReturnType<typeof openPipe>;

/** Opens a pipe whose reader is the test. Its write end blocks, as a shell's does, unless `nonBlocking`. */
export function openPipe({ nonBlocking = false } = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rides-pipe-'));
  const name = path.join(folder, 'pipe');
  execFileSync('mkfifo', [name]);
  const readFd = fs.openSync(name, O_RDONLY | O_NONBLOCK);
  const writeFd = fs.openSync(name, nonBlocking ? O_WRONLY | O_NONBLOCK : O_WRONLY);
  fs.rmSync(folder, { recursive: true });
  let isReaderOpen = true;
  const closeReader = () => {
    if (isReaderOpen) fs.closeSync(readFd);
    isReaderOpen = false;
  };
  return {
    /** The file descriptor of the write end. (Node's own pipes between processes are sockets, with another capacity.) */
    writeFd,
    /** Fills the pipe, so that writers block as if its reader hung. */
    fill: () => void fs.writeSync(writeFd, Buffer.alloc(pipeSize, '\n')),
    /** Reads the current contents. */
    read() {
      const bytes = Buffer.alloc(pipeSize);
      try {
        return bytes.toString('utf8', 0, fs.readSync(readFd, bytes));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return '';
        throw error;
      }
    },
    /** Closes the read end: further writes fail with EPIPE. */
    closeReader,
    close() {
      closeReader();
      fs.closeSync(writeFd);
    },
  };
}
