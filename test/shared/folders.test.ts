import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';

const shared = path.resolve(import.meta.dirname, '../../shared');

/** The folders of shared/ that each folder of shared/ imports from. Its own files stand under all of them. */
function importsOfFolders(): Map<string, Set<string>> {
  const imports = new Map<string, Set<string>>();
  for (const file of fs.readdirSync(shared, { recursive: true, encoding: 'utf8' })) {
    const [folder = '', ...rest] = file.split(path.sep);
    if (rest.length === 0 || !file.endsWith('.ts')) continue;
    const source = fs.readFileSync(path.join(shared, file), 'utf8');
    for (const [, imported = ''] of source.matchAll(/from '(\.[^']+)'/g)) {
      const [other = '', ...inside] = path.relative(shared, path.resolve(shared, file, '..', imported)).split(path.sep);
      if (inside.length > 0 && other !== folder) imports.set(folder, (imports.get(folder) ?? new Set()).add(other));
    }
  }
  return imports;
}

describe('the folders of shared/', () => {
  const imports = importsOfFolders();

  function reach(folder: string, reached = new Set<string>()): Set<string> {
    for (const other of imports.get(folder) ?? []) if (!reached.has(other)) reach(other, reached.add(other));
    return reached;
  }

  it('import each other without a circle', () => {
    expect(imports.get('rides')).to.include('mongo');
    for (const folder of imports.keys()) expect([...reach(folder)], `from ${folder}`).not.to.include(folder);
  });
});
