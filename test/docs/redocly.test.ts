import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { openApi } from '../support/documented.ts';

const cli = path.resolve(import.meta.dirname, '../../node_modules/@redocly/cli/bin/cli.js');

describe('the linter of Redocly', () => {
  for (const [audience, document] of Object.entries(openApi)) {
    it(`reports no problem in the OpenAPI document for a ${audience} with its strict recommended rules`, async () => {
      const folder = await mkdtemp(path.join(tmpdir(), 'rides-openapi-'));
      try {
        await writeFile(path.join(folder, 'openapi.json'), JSON.stringify(document));
        const args = [cli, 'lint', 'openapi.json', '--extends', 'recommended-strict', '--format', 'json'];
        const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
        const found = await promisify(execFile)(process.execPath, args, { cwd: folder, env }).catch((error) => error);
        const { problems, totals } = JSON.parse(found.stdout);
        const lines = problems.map(
          ({ ruleId, message, location }: { ruleId: string; message: string; location: { pointer: string }[] }) =>
            `${ruleId}: ${message} (${location[0]?.pointer})`,
        );
        expect(lines).to.deep.equal([]);
        expect(totals.errors + totals.warnings).to.equal(0);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  }
});
