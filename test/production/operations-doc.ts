import fs from 'node:fs/promises';
import path from 'node:path';

const file = path.join(import.meta.dirname, '..', '..', 'docs', 'operations.md');

/** The scripts of the procedures in docs/operations.md, unchanged, by the names of their code blocks. */
export async function procedures(): Promise<Map<string, string>> {
  const text = await fs.readFile(file, 'utf8');
  const blocks = [...text.matchAll(/^```sh (\S+)\n(.*?)^```$/gms)];
  return new Map(blocks.map(([, name = '', script = '']) => [name, script]));
}

/** The number of procedures that the document marks as tested. */
export async function testedMarks(): Promise<number> {
  return [...(await fs.readFile(file, 'utf8')).matchAll(/^\*\*[^*\n]*\bTested\b[^*\n]*\*\*/gm)].length;
}
