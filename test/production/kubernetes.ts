import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { loadAll } from 'js-yaml';
import { temporaryFolder } from '../../dev/servers/temporary-folder.ts';

const root = path.join(import.meta.dirname, '..', '..');
const folder = path.join(root, 'deploy/kubernetes');

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  // biome-ignore lint/suspicious/noExplicitAny: validation and types are what the tests check.
  [part: string]: any;
}

/** Every object in deploy/kubernetes. */
export async function readManifests(): Promise<Manifest[]> {
  const files = (await fs.readdir(folder)).filter((file) => file.endsWith('.yaml')).sort();
  const texts = await Promise.all(files.map((file) => fs.readFile(path.join(folder, file), 'utf8')));
  const objects = texts.flatMap((text) => loadAll(text) as Manifest[]);
  return objects.flatMap((object) => (object.kind === 'List' ? (object.items as Manifest[]) : object));
}

/**
 * Checks manifests with the package `kubernetes-models`: its validators check values and required fields, and its types
 * unknown fields. Resolves with one complaint per line; empty if it has none.
 */
export async function complaintsOf(manifests: readonly Manifest[]): Promise<string> {
  const invalid = await Promise.all(manifests.map(valueComplaint));
  return [...invalid, await fieldComplaints(manifests)].filter(Boolean).join('\n');
}

const nameOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`;
const moduleOf = ({ apiVersion }: Manifest) => `kubernetes-models/${apiVersion}`;

async function valueComplaint(manifest: Manifest): Promise<string> {
  const models = await import(moduleOf(manifest));
  const Model = models[manifest.kind] ?? models.default?.[manifest.kind];
  try {
    new Model(manifest).validate();
    return '';
  } catch (error) {
    return `${nameOf(manifest)}: ${(error as Error).message}`;
  }
}

/** The compiler refuses a field of a literal that its type lacks. */
async function fieldComplaints(manifests: readonly Manifest[]): Promise<string> {
  const lines = manifests.map((manifest) => {
    const type = `import('${moduleOf(manifest)}').I${manifest.kind}`;
    return `(${JSON.stringify(manifest)}) satisfies ${type};`;
  });
  // Packages are found from a folder of the project.
  await fs.mkdir(path.join(root, '.cache'), { recursive: true });
  const work = await temporaryFolder('manifests', path.join(root, '.cache'));
  try {
    await fs.writeFile(path.join(work, 'manifests.ts'), lines.join('\n'));
    const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
    const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', ''];
    const args = [compiler, ...options, '--pretty', 'false', 'manifests.ts'];
    return await promisify(execFile)(process.execPath, args, { cwd: work }).then(
      () => '',
      ({ stdout }) =>
        String(stdout).replace(/^manifests\.ts\((\d+),\d+\)/gm, (_, line) => nameOf(manifests[line - 1] as Manifest)),
    );
  } finally {
    await fs.rm(work, { recursive: true });
  }
}
