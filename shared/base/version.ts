import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The folder of package.json: compiled files are one folder deeper than the sources. */
export const projectFolder = findProjectFolder();

const { version: release, gitHead: commit = '' } = JSON.parse(
  readFileSync(path.join(projectFolder, 'package.json'), 'utf8'),
) as { version: string; gitHead?: string };

/** The version of package.json, and the commit of the build; the commit is empty if the build did not record it. */
export const build = Object.freeze({ release, commit });

/** The running version in one word, for people and logs: `1.9.0`, or `1.9.0+COMMIT`. */
export const version = commit ? `${release}+${commit}` : release;

function findProjectFolder(): string {
  let folder = import.meta.dirname;
  while (!existsSync(path.join(folder, 'package.json'))) {
    const parent = path.dirname(folder);
    if (parent === folder) throw new Error('package.json is missing: it must be next to the folder of the build');
    folder = parent;
  }
  return folder;
}
