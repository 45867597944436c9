import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';

const read = (file: string) => readFileSync(path.resolve(import.meta.dirname, '../..', file), 'utf8');

describe('the Docker image', () => {
  it('the image contains the documentation, which the API reads at its start', () => {
    const shipped = read('Dockerfile')
      .split(/^FROM /m)
      .at(-1);
    expect(shipped).to.match(/^COPY docs docs$/m);
    expect(shipped).to.match(/^COPY package\.json .*\.\/$/m);
    expect(read('.dockerignore')).to.match(/^!docs$/m);
  });
});
