import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { openApi } from '../support/documented.ts';
import { generatorsFolder, installGenerators, runPackage } from './generators.ts';

const documents = { openapi: openApi.partner, 'drivers-openapi': openApi.driver };
const names = Object.keys(documents);

/** How each generator makes the clients of both documents, in a folder with the generator's name. */
const generators: Readonly<Record<string, () => Promise<unknown>>> = {
  orval: () => runPackage('orval', []),
  'openapi-ts': () => forEach((name) => ['openapi-ts', ['-i', `${name}.json`, '-o', `openapi-ts/${name}`]]),
  'openapi-typescript': () =>
    forEach((name) => ['openapi-typescript', [`${name}.json`, '-o', `openapi-typescript/${name}.ts`]]),
  'swagger-typescript-api': () =>
    forEach((name) => [
      'swagger-typescript-api',
      ['generate', '-p', `${name}.json`, '-o', `swagger-typescript-api/${name}`, '-n', 'api.ts'],
    ]),
};

async function forEach(command: (name: string) => [string, string[]]): Promise<void> {
  for (const name of names) await runPackage(...command(name));
}

const writeInFolder = (name: string, content: object) =>
  writeFile(path.join(generatorsFolder, name), JSON.stringify(content));

describe('clients generated from the OpenAPI documents', function () {
  this.timeout(300_000);

  before(async () => {
    await installGenerators();
    for (const [name, document] of Object.entries(documents)) {
      await writeInFolder(`${name}.json`, document);
    }
  });

  for (const [generator, generate] of Object.entries(generators)) {
    it(`clients made by ${generator} from both OpenAPI documents compile with strict options`, async () => {
      const folder = path.join(generatorsFolder, generator);
      await rm(folder, { recursive: true, force: true });
      await generate();
      const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.ts'));
      for (const name of names) expect(files.join('\n')).to.match(new RegExp(`^${name}\\b`, 'm'));
      const sameInAnyCase = new Set(files.map((file) => file.toLowerCase()));
      expect(sameInAnyCase.size).to.equal(files.length);
      const project = `${generator}.tsconfig.json`;
      await writeInFolder(project, { extends: './tsconfig.json', include: [generator] });
      await runPackage('tsc', ['--project', project]);
    });
  }
});
