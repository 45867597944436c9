import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { filesOfOneName, findCycles, importsIn, productFiles, readImports, wrongImports } from '../support/imports.ts';

describe('imports', () => {
  const imports = readImports();
  /** The imports of the source, with an additional statement in one file. */
  const planted = (file: string, statement: string) =>
    new Map([...imports, [file, [...(imports.get(file) ?? []), ...importsIn(file, statement)]]]);

  it('imports lead from api to web, from web, workers and cli to shared, and inside shared only to lower levels', () => {
    expect([...imports.keys()]).to.include.members([
      'api/app.ts',
      'shared/rides/decide.ts',
      'workers/main.ts',
      'cli/keys.ts',
    ]);
    expect(wrongImports(imports)).to.deep.equal([]);
  });

  it('imports form no cycle of files and no cycle of subfolders', () => {
    expect(findCycles(imports)).to.deep.equal({ ofFiles: [], ofEntries: [] });
  });

  for (const [file, statement] of [
    ['shared/process/start.ts', "import { callback } from '../../api/app.ts';"],
    ['shared/process/start.ts', "import type { Handler } from '../../workers/handler.ts';"],
    ['api/app.ts', "const { runJob } = await import('../workers/run-job.ts');"],
    ['workers/main.ts', "import {\n  callback,\n} from '../api/app.ts';"],
    ['workers/main.ts', "import { invocation } from '../cli/program.ts';"],
    ['cli/parser.ts', "export { startPool } from '../workers/pools.ts';"],
    ['cli/parser.ts', "import '../test/support/until.ts';"],
    ['api/app.ts', "import { settingsFor } from '../dev/stack/stack-settings.ts';"],
    ['dev/main.ts', "import { until } from '../test/support/until.ts';"],
    ['shared/base/errors.ts', "import type { Ride } from '../rides/ride-types.ts';"],
    ['shared/mail/mail.ts', "import { accountOf } from '../accounts/account.ts';"],
    ['shared/webhooks/sign.ts', "import { dayMs } from '../usage/days.ts';"],
    ['workers/pools.ts', "import Koa from 'koa';"],
    ['web/kit/page.tsx', "import Koa from 'koa';"],
    ['web/kit/page.tsx', "import { respond } from '../../api/dashboard/web-pages.ts';"],
    ['web/dashboard/curl-of-ride.tsx', "import { scenarioWords } from './console-view.tsx';"],
    ['web/desk/desk-ride.tsx', "import { desk } from './desk-page.tsx';"],
    ['api/partner/routes.ts', "import { exactText } from '../../web/kit/facts.tsx';"],
    ['workers/pools.ts', "import { createBullBoard } from '@bull-board/api';"],
    ['shared/mail/mail.ts', "import { exactText } from '../../web/kit/facts.tsx';"],
    ['shared/base/errors.ts', "import type { Middleware } from '@koa/router';"],
    ['shared/mail/mail.ts', "import { createTransport } from 'nodemailer';"],
    ['api/app.ts', "import https from 'node:https';"],
    ['workers/mail-jobs.ts', "import net, { isIP } from 'node:net';"],
    ['cli/parser.ts', "const { request } = require('undici');"],
    ['shared/rides/decide.ts', "import { readRide } from './read-ride.ts';"],
    ['shared/rides/offers.ts', "import fs from 'node:fs/promises';"],
  ] as const) {
    it(`the check refuses ${statement.replaceAll(/\s+/g, ' ')} in ${file}`, () => {
      expect(wrongImports(planted(file, statement)).join('\n')).to.include(`${file} `);
    });
  }

  it('the check reports a cycle of files, even if they only import types', () => {
    const { ofFiles } = findCycles(
      planted('shared/rides/transitions.ts', "import type { Change } from './decide.ts';"),
    );
    expect(ofFiles).to.have.lengthOf(1);
    expect(ofFiles[0]).to.include.members(['shared/rides/transitions.ts', 'shared/rides/decide.ts']);
  });

  it('the check reports a cycle of subfolders', () => {
    const file = 'workers/webhooks/slow-lane.ts';
    const { ofFiles, ofEntries } = findCycles(planted(file, "import type { Lease } from '../periodic/lease.ts';"));
    expect(ofFiles).to.deep.equal([]);
    expect(ofEntries).to.deep.include(['workers/periodic', 'workers/webhooks']);
  });
});

describe('the names of files', () => {
  it('one name means one file, or a file with its style and its script in the same folder', () => {
    const files = productFiles();
    expect(files).to.include.members(['web/dashboard/usage.tsx', 'web/dashboard/usage.css', 'dev/main.ts']);
    expect(filesOfOneName(files)).to.deep.equal([]);
  });

  for (const [double, first] of [
    ['dev/stack/decide.ts', 'shared/rides/decide.ts'],
    ['shared/rides/decide.tsx', 'shared/rides/decide.ts'],
    ['web/desk/team.css', 'web/dashboard/team.tsx'],
    ['web/kit/team.browser.ts', 'web/dashboard/team.tsx'],
  ] as const) {
    it(`the check refuses ${double} beside ${first}`, () => {
      const [group, ...others] = filesOfOneName([...productFiles(), double]);
      expect(group).to.include.members([double, first]);
      expect(others).to.deep.equal([]);
    });
  }
});

describe('files that are named elsewhere', () => {
  const root = path.resolve(import.meta.dirname, '../..');
  const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

  it('docs/architecture.md names only files and folders that exist', () => {
    const text = read('docs/architecture.md');
    const named = [...text.matchAll(/`((?:api|web|workers|shared|cli|dev|test)\/[\w./-]*)`/g)].map(
      ([, name = '']) => name,
    );
    expect(named.length).to.be.above(20);
    expect(named.filter((name) => !existsSync(path.join(root, name)))).to.deep.equal([]);
  });

  it('npm run mutants names only test files that exist', () => {
    const { mochaFiles } = JSON.parse(read('test/mutants/stryker.config.json')) as { mochaFiles: string[] };
    expect(mochaFiles.filter((name) => !existsSync(path.join(root, name)))).to.deep.equal([]);
  });
});
