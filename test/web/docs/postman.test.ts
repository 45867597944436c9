import { expect } from 'chai';
import { docs, openApi } from '../../support/documented.ts';

interface Folder {
  name: string;
  item: { name: string; request: { method: string; url: { raw: string; path: string[] }; body?: { raw: string } } }[];
}

describe('Postman collections', () => {
  for (const [name, document] of [
    ['postman', openApi.partner],
    ['drivers-postman', openApi.driver],
  ] as const) {
    const collection = JSON.parse(docs.answerTo(`/docs/${name}.json`)?.body ?? '');
    const folders: Folder[] = collection.item;

    it(`${name}.json has each operation of its OpenAPI document once, in the folder of its tag`, () => {
      const listed = folders.flatMap((folder) => folder.item.map((item) => [folder.name, item.name]));
      const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
      expect(listed).to.have.deep.members(operations.map(({ tags, summary }) => [tags[0], summary]));
    });

    it(`${name}.json has variables for the address and the key, and a body wherever the OpenAPI document has one`, () => {
      const [baseUrl, key] = collection.variable;
      expect([baseUrl, key]).to.deep.equal([
        { key: 'baseUrl', value: 'https://rides.example' },
        { key: 'key', value: '' },
      ]);
      for (const { name, request } of folders.flatMap((folder) => folder.item)) {
        const path = `/${request.url.path.join('/').replaceAll(/:(\w+)/g, '{$1}')}`;
        const operation = document.paths[path]?.[request.method.toLowerCase()];
        expect(operation?.summary).to.equal(name);
        expect(request.body !== undefined, name).to.equal(operation?.requestBody !== undefined);
        if (request.body) JSON.parse(request.body.raw);
      }
    });
  }
});
