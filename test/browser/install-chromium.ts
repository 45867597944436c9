import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

export const chromiumPath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const run = promisify(execFile);

/** Sees to it that there is a Chromium: installs Debian's where this user may, and else says what to do. */
export async function ensureChromium(): Promise<void> {
  if (existsSync(chromiumPath)) return;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error('The browser tests need Chromium: apt-get install chromium, or set CHROMIUM_PATH');
  }
  console.log('installing Chromium with apt (about 100 MB)');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], { env });
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium', 'fonts-dejavu-core'], { env });
}
