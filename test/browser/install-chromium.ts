import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

/** Debian's headless Chromium needs about two thirds of the time of the full one. */
const installed = ['/usr/lib/chromium/chromium-headless-shell', '/usr/bin/chromium'];
const run = promisify(execFile);

/** The path of Chromium on this machine; undefined if it is not installed. */
export const chromiumPath = (): string | undefined =>
  process.env.CHROMIUM_PATH ?? installed.find((file) => existsSync(file));

/** Makes sure that Chromium is installed. Installs Debian's package as root; otherwise throws with instructions. */
export async function ensureChromium(): Promise<void> {
  if (chromiumPath()) return;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error('The browser tests need Chromium: apt-get install chromium-headless-shell, or set CHROMIUM_PATH');
  }
  console.log('installing Chromium with apt (about 100 MB)');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], { env });
  const packages = ['chromium-headless-shell', 'fonts-dejavu-core'];
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], { env });
}
