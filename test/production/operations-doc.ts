import fs from 'node:fs/promises';
import path from 'node:path';

const file = path.join(import.meta.dirname, '..', '..', 'docs', 'operations.md');

/** A code block of docs/operations.md, such as ```sh restart. */
export interface PageBlock {
  language: string;
  /** Empty for a block that is no script. */
  name: string;
  text: string;
}

/** Every code block of docs/operations.md, with its text unchanged except for the indentation of a list. */
export async function pageBlocks(): Promise<PageBlock[]> {
  const text = await fs.readFile(file, 'utf8');
  return [...text.matchAll(/^( *)```(\w*) ?(\S*)\n(.*?)^ *```$/gms)].map(
    ([, indent = '', language = '', name = '', block = '']) => ({
      language,
      name,
      text: block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

/** The text of a script in docs/operations.md. Rejects if there is none of this name. */
export async function pageScript(name: string): Promise<string> {
  const found = (await pageBlocks()).find((block) => block.name === name);
  if (!found) throw new Error(`docs/operations.md has no block ${name}`);
  return found.text;
}

/** The names of the scripts, by the tests that run them. */
export const scripts = {
  forms: ['systemd', 'compose'],
  procedures: [
    ...['backup', 'mongo', 'move', 'redis', 'restore', 'resume', 'rollback', 'rotate', 'slow', 'spread', 'upgrade'],
  ],
  builds: ['build-systemd', 'build-compose'],
  installation: ['settings', 'start'],
  nightly: ['nightly-systemd', 'nightly-compose'],
  others: ['backup-key', 'kubernetes', 'mongo-key', 'request', 'tunnel'],
};

/** The number of procedures that the document marks as tested. */
export async function testedMarks(): Promise<number> {
  return [...(await fs.readFile(file, 'utf8')).matchAll(/^\*\*[^*\n]*\bTested\b[^*\n]*\*\*/gm)].length;
}
