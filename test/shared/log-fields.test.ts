import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { onlyAllowed } from '../../shared/base/logger.ts';

describe('log fields', () => {
  it('log fields outside the allowlist are dropped, at any depth', () => {
    const given = {
      rideId: 'ride_1',
      seq: 2,
      until: new Date(0),
      pools: ['mail'],
      error: { name: 'Error', code: 'E1', at: 'at x', message: 'CANARY', cause: { phone: 'CANARY' } },
      passenger: { name: 'CANARY' },
      phone: 'CANARY',
      body: 'CANARY',
      url: 'CANARY',
      authorization: 'CANARY',
      reason: { answer: 'CANARY' },
      outcome: [{ text: 'CANARY' }],
    };
    const kept = onlyAllowed(given);
    expect(kept).to.deep.equal({
      rideId: 'ride_1',
      seq: 2,
      until: new Date(0),
      pools: ['mail'],
      error: { name: 'Error', code: 'E1', at: 'at x' },
    });
    expect(given).to.include({ phone: 'CANARY' });
  });

  it('log fields that are all allowed are returned unchanged', () => {
    const given = { rideId: 'ride_1', outcome: 'delivered', durationMs: 3, reason: undefined };
    expect(onlyAllowed(given)).to.equal(given);
  });

  it('the fields of every log call in the source code are on the allowlist', () => {
    const call = /\blog\??(?:\.(?:debug|info|warn|error)|\[[^\]]{1,40}\])\(\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}/g;
    const calls = sources().flatMap((source) => [...source.matchAll(call)]);
    expect(calls.length).to.be.greaterThan(30);
    for (const [text, fields = ''] of calls) {
      const names = [...fields.matchAll(/(?:^|,)\s*(\w+)(?=\s*[,:]|\s*$)/g)].map(([, name = '']) => name);
      for (const name of names) {
        const value = name === 'error' || name === 'concurrency' ? {} : 1;
        expect(onlyAllowed({ [name]: value }), text).to.have.property(name);
      }
    }
  });
});

function sources(): string[] {
  const root = path.resolve(import.meta.dirname, '../..');
  return ['api', 'web', 'shared', 'workers'].flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => fs.readFileSync(path.join(root, folder, file), 'utf8')),
  );
}
