import { readlinkSync, rmSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { isAlive } from './processes.ts';

const prefix = 'rides-';
const ownerFile = 'owner';

/** The temporary folders of this process, which removes those that are left when it exits. */
const own = new Set<string>();
process.once('exit', () => {
  for (const folder of own) rmSync(folder, { recursive: true, force: true });
});

/**
 * Creates a temporary folder that belongs to this process. Its parent is by default the system's temporary folder. The
 * caller removes it, or this process does when it exits.
 */
export async function temporaryFolder(kind: string, parent = os.tmpdir()): Promise<string> {
  const folder = await fs.mkdtemp(path.join(parent, `${prefix}${kind}-`));
  own.add(folder);
  await writeOwner(folder);
  return folder;
}

/** Creates or reuses the temporary folder of this name. Only this user may enter it. */
export async function namedTemporaryFolder(name: string): Promise<string> {
  const folder = path.join(os.tmpdir(), `${prefix}${name}`);
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = await fs.lstat(folder);
  if (uid !== os.userInfo().uid || (mode & 0o077) !== 0) throw new Error(`${folder} belongs to another user`);
  if (!(await hasLivingOwner(folder))) await writeOwner(folder);
  return folder;
}

/** Removes the temporary folders of processes that were killed. */
export async function removeAbandonedFolders(parent = os.tmpdir()): Promise<void> {
  for (const name of await fs.readdir(parent)) {
    if (!name.startsWith(prefix)) continue;
    const folder = path.join(parent, name);
    const owner = await ownerOf(folder);
    // A process id identifies a process only within its namespace: in another container that shares this folder, the
    // same id belongs to a different process.
    const isOurs = owner?.pidNamespace === pidNamespace();
    if (isOurs && !isAlive(owner.pid)) await fs.rm(folder, { recursive: true, force: true });
  }
}

/** The contents of a folder, except the file that names its owner. */
export async function contentsOf(folder: string): Promise<string[]> {
  return (await fs.readdir(folder)).filter((name) => name !== ownerFile);
}

interface Owner {
  pid: number;
  pidNamespace: string;
}

/** Identifies the group of processes that can see each other's ids; Linux only. */
const pidNamespace = (): string => (process.platform === 'linux' ? readlinkSync('/proc/self/ns/pid') : '');

const writeOwner = (folder: string) =>
  fs.writeFile(path.join(folder, ownerFile), `${process.pid} ${pidNamespace()}`, { mode: 0o600 });

async function hasLivingOwner(folder: string): Promise<boolean> {
  const owner = await ownerOf(folder);
  return owner !== null && (owner.pidNamespace !== pidNamespace() || isAlive(owner.pid));
}

/** The process that owns a folder; null if it is unknown. */
async function ownerOf(folder: string): Promise<Owner | null> {
  const text = await fs.readFile(path.join(folder, ownerFile), 'utf8').catch(() => '');
  const [pid, namespace = ''] = text.split(' ');
  return Number(pid) > 0 ? { pid: Number(pid), pidNamespace: namespace } : null;
}
