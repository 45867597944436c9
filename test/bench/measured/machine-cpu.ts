import fs from 'node:fs';

/** What of the machine's CPU time has gone where, in hundredths of a second since its start. */
interface Times {
  busy: number;
  total: number;
  ours: number;
}

/**
 * Watches the machine's CPU beside the processes of the bench. Answers how to end that: with the share of the CPU time of
 * all cores that others took meanwhile.
 */
export function watchOthers(pids: readonly number[]): () => number {
  const before = timesNow(pids);
  return () => {
    const after = timesNow(pids);
    const others = after.busy - before.busy - (after.ours - before.ours);
    return Math.max(0, others) / Math.max(1, after.total - before.total);
  };
}

/** What a process that cannot be asked (MongoDB, Redis) has used of the CPU so far, in microseconds. */
export function cpuUsOf(pid: number): number {
  return ticksOf(pid) * 10_000;
}

function timesNow(pids: readonly number[]): Times {
  const line = fs.readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? '';
  // Guests' time is counted within the first two already.
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, ...rest] = line.split(/\s+/).slice(1, 9).map(Number);
  const busy = user + nice + system + sum(rest);
  return { busy, total: busy + idle + iowait, ours: sum(pids.map(ticksOf)) };
}

function ticksOf(pid: number): number {
  // The fields stand after the name in parentheses: user and system time.
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);
