import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { build } from '../../shared/base/version.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const versionsIn = (file: string): string[] =>
  [...read(file).matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(([, version = '']) => version);

describe('the version', () => {
  it("the newest version of the operators' changelog is that of package.json", () => {
    expect(versionsIn('CHANGELOG.md')[0]).to.equal(build.release);
    expect(JSON.parse(read('package-lock.json')).version).to.equal(build.release);
  });

  it("the operators' changelog has every version that partners notice since 1.5.0", () => {
    const ofPartners = versionsIn('docs/changelog.md');
    expect(versionsIn('CHANGELOG.md')).to.include.members(ofPartners.slice(0, ofPartners.indexOf('1.5.0') + 1));
  });
});
