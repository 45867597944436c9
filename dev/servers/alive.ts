import fs from 'node:fs';

/** Whether a process is running. One that has ended but was not yet reaped by its parent is not. */
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
    // The state follows the name in parentheses, which may itself hold any character.
    return fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.startsWith('Z') ?? true;
  } catch {
    return true;
  }
}
