import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { unpackedPackages } from '../../dev/servers/debian-packages.ts';
import { useFolder } from '../support/folder.ts';

describe('a package of Debian', () => {
  const folder = useFolder();
  const { PATH } = process.env;
  /** An apt that counts, and a dpkg that unpacks nothing. */
  before(async () => {
    const script = (name: string, line: string) =>
      writeFile(join(folder.path, name), `#!/bin/bash\n${line}\n`, { mode: 0o755 });
    await script('apt-get', `echo "$*" >> '${folder.path}/calls'; touch package.deb`);
    await script('dpkg', 'mkdir -p "$3"');
    process.env.PATH = `${folder.path}:${PATH}`;
  });
  after(() => {
    process.env.PATH = PATH;
  });

  it('is fetched once by servers that start at the same time', async () => {
    const ask = () => unpackedPackages([`of-test-${process.pid}`], { say: () => {} });
    const [unpacked = '', ...others] = await Promise.all([ask(), ask(), ask(), ask()]);
    try {
      expect(others).to.deep.equal([unpacked, unpacked, unpacked]);
      expect(await ask()).to.equal(unpacked);
      expect((await readFile(join(folder.path, 'calls'), 'utf8')).match(/ update$/gm)).to.have.length(1);
    } finally {
      await rm(unpacked, { recursive: true, force: true });
    }
  });
});
