import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { dispatchedRide, newGatewayDriver, somewhere } from '../support/drivers.ts';
import { useTestApi } from '../support/service.ts';
import { generatorsFolder, installGenerators, runPackage } from './generators.ts';

interface Item {
  name: string;
  item?: Item[];
}
interface Report {
  run: {
    executions: { item: Item; response?: { code: number } }[];
    failures: { error: { message: string } }[];
  };
}

describe('the Postman collections', function () {
  this.timeout(300_000);
  const api = useTestApi();

  before(installGenerators);

  /** Runs a served collection in Newman, in the collection's order. Resolves with the status of each request. */
  async function runCollection(name: string, key: string): Promise<Map<string, number | undefined>> {
    const collection = await (await fetch(`${api.url}/docs/${name}.json`)).json();
    // Newman would wait for the end of a stream.
    for (const folder of collection.item) {
      folder.item = folder.item.filter((item: Item) => item.name !== 'Follow requests and ride');
    }
    await writeFile(path.join(generatorsFolder, `${name}.json`), JSON.stringify(collection));
    const report = `${name}-report.json`;
    const values = ['--env-var', `baseUrl=${api.url}`, '--env-var', `key=${key}`];
    const output = ['--reporters', 'json', '--reporter-json-export', report];
    await runPackage('newman', ['run', `${name}.json`, ...values, ...output]);
    const { run }: Report = JSON.parse(await readFile(path.join(generatorsFolder, report), 'utf8'));
    expect(run.failures.map(({ error }) => error.message)).to.deep.equal([]);
    return new Map(run.executions.map(({ item, response }) => [item.name, response?.code]));
  }

  it("Newman runs the partners' collection: the requests after a creation use the id of the new ride", async () => {
    const { key } = await api.partner();
    const statuses = await runCollection('postman', key);
    expect(statuses.get('Create a ride')).to.equal(201);
    for (const name of ['Retrieve a ride', 'Raise the fare', 'Cancel a ride']) expect(statuses.get(name)).to.equal(200);
    expect([...new Set(statuses.values())]).to.have.members([200, 201, 404, 409]);
  });

  it("Newman runs the drivers' collection: the requests after the list use the id of its first ride", async () => {
    const place = somewhere();
    const { key } = await newGatewayDriver(api, { at: place });
    await dispatchedRide(api.ctx, place);
    const statuses = await runCollection('drivers-postman', key);
    expect(statuses.get('Make an offer')).to.equal(201);
    expect(statuses.get('Withdraw an offer')).to.equal(204);
    expect([...new Set(statuses.values())]).to.have.members([200, 201, 204, 409]);
  });
});
