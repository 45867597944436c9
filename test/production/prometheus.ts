import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { unpackedPackages } from '../../dev/servers/debian-packages.ts';
import { exitOf } from '../../dev/servers/processes.ts';

/** Runs Debian's promtool on a text or on files. Resolves with its complaints; empty if it has none. */
export async function promtool(args: string[], input = ''): Promise<string> {
  const folder = await unpackedPackages(['promtool'], { release: 'trixie' });
  const child = spawn(path.join(folder, 'usr/bin/promtool'), args, { cwd: opsFolder });
  const exited = exitOf(child);
  child.stdin.end(input);
  const [said, complaint] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return child.exitCode === 0 && !complaint ? '' : said + complaint;
}

/** Alert rules, their tests and the dashboard. */
export const opsFolder = path.join(import.meta.dirname, '..', '..', 'docs', 'ops');
