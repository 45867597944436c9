import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';

const read = (file: string) => readFileSync(path.resolve(import.meta.dirname, '../..', file), 'utf8');

describe('the Docker image', () => {
  it('the image is labelled with its version and commit, which its processes report', () => {
    const dockerfile = read('Dockerfile');
    expect(dockerfile).to.match(/^ARG VERSION\nARG COMMIT\n/m);
    expect(dockerfile).to.include('org.opencontainers.image.version="$VERSION"');
    expect(dockerfile).to.include('org.opencontainers.image.revision="$COMMIT"');
    expect(dockerfile).to.include('npm pkg set "gitHead=$COMMIT"');
  });

  it('the image contains the documentation, which the API reads at its start', () => {
    const shipped = read('Dockerfile')
      .split(/^FROM /m)
      .at(-1);
    expect(shipped).to.match(/^COPY docs docs$/m);
    expect(shipped).to.match(/^COPY package\.json .*\.\/$/m);
    expect(read('.dockerignore')).to.match(/^!docs$/m);
  });

  it('the build of the image has the files from which listen.mjs is bundled, and the image does not', () => {
    const [, built, shipped] = read('Dockerfile').split(/^FROM /m);
    expect(built).to.match(/^COPY dev dev$/m);
    expect(shipped).not.to.match(/^COPY dev /m);
    expect(read('.dockerignore')).to.match(/^!dev$/m);
  });
});
