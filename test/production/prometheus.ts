import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { unpackedPackages } from '../../dev/servers/debian-packages.ts';
import { onFreePort } from '../../dev/servers/ports.ts';
import { endChild, endWithThisProcess, exitOf } from '../../dev/servers/processes.ts';
import { startProgram } from '../support/started-program.ts';
import { until } from '../support/until.ts';

/** Runs Debian's promtool on a text or on files. Resolves with its complaints; empty if it has none. */
export async function promtool(args: string[], input = ''): Promise<string> {
  const folder = await unpackedPackages(['promtool'], { release: 'trixie' });
  const { ended, output, errors } = startProgram([path.join(folder, 'usr/bin/promtool'), ...args], {
    cwd: opsFolder,
    input,
  });
  return (await ended) === 0 && !errors() ? '' : output() + errors();
}

export type Alertmanager = Awaited<ReturnType<typeof startOn>>;

export type Labels = Record<string, string>;

/** The folder from which Debian's Alertmanager reads its templates, although it is not installed. */
const templates = '/usr/share/prometheus/alertmanager';

/** Runs Debian's Alertmanager with docs/ops/alertmanager.yml on 127.0.0.1. Its receivers notify nobody. */
export async function startAlertmanager(dataDir: string) {
  const folder = await unpackedPackages(['prometheus-alertmanager'], { release: 'trixie' });
  const program = await fs.readFile(path.join(folder, 'usr/bin/prometheus-alertmanager'), 'latin1');
  // Runs a copy that reads its templates from its working directory, by a path of the same length.
  const file = path.join(dataDir, 'alertmanager');
  const here = './'.repeat(templates.length / 2);
  await fs.writeFile(file, program.replaceAll(templates, here), { encoding: 'latin1', mode: 0o755 });
  return onFreePort((port) => startOn(port, file, path.join(folder, templates)));
}

const stopGraceMs = 5_000;
const hourMs = 3_600_000;

async function startOn(port: number, file: string, cwd: string) {
  const url = `http://127.0.0.1:${port}`;
  const options = {
    'config.file': path.join(opsFolder, 'alertmanager.yml'),
    'storage.path': `${file}-data`,
    'web.listen-address': url.slice(7),
  };
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  // Without an address, it does not look for other Alertmanagers.
  const child = spawn(file, [...args, '--cluster.listen-address='], { cwd, stdio: 'ignore' });
  endWithThisProcess(child);
  const exited = exitOf(child);
  const stop = () => endChild(child, exited, stopGraceMs);
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok || child.exitCode !== null,
      () => child.exitCode !== null,
    );
  await until(isReady);
  if (child.exitCode !== null) throw new Error(`Alertmanager did not start listening on port ${port}`);

  const read = async (query: string): Promise<Labels[]> => {
    const answer = await fetch(`${url}/api/v2/alerts?${query}`);
    return ((await answer.json()) as { labels: Labels }[]).map(({ labels }) => labels);
  };
  return {
    /** Replaces the firing alerts, each given by its labels. */
    async setFiring(alerts: readonly Labels[]) {
      const isSame = (one: Labels) => (other: Labels) => isDeepStrictEqual(one, other);
      const over = (await read('')).filter((before) => !alerts.some(isSame(before)));
      const at = (ms: number) => new Date(Date.now() + ms).toISOString();
      const posted = [
        ...over.map((labels) => ({ labels, startsAt: at(-hourMs), endsAt: at(-1) })),
        ...alerts.map((labels) => ({ labels, startsAt: at(0), endsAt: at(hourMs) })),
      ];
      const headers = { 'content-type': 'application/json' };
      await fetch(`${url}/api/v2/alerts`, { method: 'POST', headers, body: JSON.stringify(posted) });
      await until(async () => (await read('')).length === alerts.length);
    },
    /** The alerts that the receiver is notified of: those that fire and are not muted. */
    notifiedOf: (receiver: string) => read(`receiver=${receiver}&inhibited=false`),
    stop,
  };
}

/** Alert rules, their tests and the dashboard. */
export const opsFolder = path.join(import.meta.dirname, '..', '..', 'docs', 'ops');
