import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { compile } from '../../dev/stack/compile-service.ts';

describe('compilation for npm run dev', () => {
  it('the compilation fails for a syntax error, with one line that names file, line and column', async () => {
    const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rides-test-'));
    const project = path.join(folder, 'tsconfig.json');
    await fs.writeFile(
      project,
      JSON.stringify({
        extends: path.resolve('dev/tsconfig.build.json'),
        include: ['.'],
        compilerOptions: { rootDir: '.' },
      }),
    );
    // The wrong type of `fare` must not be reported here: only npm run typecheck checks types.
    await fs.writeFile(path.join(folder, 'wrong.ts'), 'export const fare: string = 10;\n\nexport const seats = 4 +;\n');
    const error = await compile(project, path.join(folder, 'built')).catch((reason: Error) => reason.message);
    expect(error).to.match(/^\S+\/wrong\.ts:3:25: Expression expected\.$/);
    await fs.rm(folder, { recursive: true });
  });
});
