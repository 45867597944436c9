import fs from 'node:fs';

/** Whether a process is running. A zombie, which has ended but was not reaped by its parent, is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return process.platform !== 'linux' || !isZombie(pid);
}

function isZombie(pid: number): boolean {
  try {
    // The state follows the name in parentheses. The name may hold any character, so the last `) ` counts.
    return fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.startsWith('Z') ?? true;
  } catch {
    return true;
  }
}
