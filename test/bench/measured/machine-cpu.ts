import fs from 'node:fs';

/**
 * Starts to watch the CPU use of all other processes on the machine. Returns a function that returns the share of the
 * CPU time of all cores, 0 to 1, that other processes have used since then.
 */
export function watchOthers(pids: readonly number[]): () => number {
  const before = timesNow(pids);
  return () => {
    const after = timesNow(pids);
    const others = after.busy - before.busy - (after.ours - before.ours);
    return Math.max(0, others) / Math.max(1, after.total - before.total);
  };
}

/**
 * The CPU time of a process so far, in microseconds, for processes without IPC (MongoDB, Redis). NaN without a process
 * id, which is the case for the MongoDB of TEST_MONGO_URL.
 */
export function cpuUsOf(pid: number): number {
  return pid === 0 ? Number.NaN : ticksOf(pid) * 10_000;
}

/** CPU time of the machine since its start, in hundredths of a second. `ours` is that of the bench's processes. */
function timesNow(pids: readonly number[]) {
  const line = fs.readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? '';
  // `user` and `nice` already include the time of virtual guests.
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, ...rest] = line.split(/\s+/).slice(1, 9).map(Number);
  const busy = user + nice + system + sum(rest);
  return { busy, total: busy + idle + iowait, ours: sum(pids.map(ticksOf)) };
}

function ticksOf(pid: number): number {
  // The fields are counted from the end of the process name, which is in parentheses and may contain spaces.
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);
