import fs from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { freePort } from '../../dev/servers/ports.ts';
import { registry } from '../../shared/base/metrics.ts';
import { connectMongo, disconnectMongo } from '../../shared/base/mongo/connect-mongo.ts';
import { build } from '../../shared/base/version.ts';
import { migrate } from '../../shared/process/migrate-database.ts';
import { measureProcess } from '../../shared/process/ops/process-metrics.ts';
import { testConfig, testSettings } from '../support/service.ts';
import { type ServiceProcess, serviceProcess } from '../support/service-process.ts';
import { opsFolder, promtool } from './prometheus.ts';

/** The metrics that Prometheus adds for each scraped process, and those of its node_exporter and blackbox_exporter. */
const ofPrometheus = [
  'up',
  'node_filesystem_avail_bytes',
  'node_filesystem_size_bytes',
  'probe_success',
  'probe_ssl_earliest_cert_expiry',
];

describe('production metrics', function () {
  // The first run on a machine fetches promtool.
  this.timeout(120_000);

  const read = (file: string) => fs.readFile(path.join(opsFolder, file), 'utf8');

  describe('of a running process', () => {
    const started: ServiceProcess[] = [];
    before(async () => {
      const { secrets } = testConfig();
      await connectMongo(secrets.mongoUrl);
      await migrate(secrets.keys);
      await disconnectMongo();
    });
    after(() => Promise.all(started.map((each) => each.stop())));

    for (const [name, script, args] of [
      ['the API', 'api/main', []],
      ['a worker of one pool', 'workers/main', ['webhooks']],
      ['a worker of all pools', 'workers/main', []],
    ] as const) {
      it(`the metrics of ${name} pass promtool's check`, async () => {
        const OPS_PORT = String(await freePort());
        const running = serviceProcess({ name, script, args: [...args], env: testSettings({ OPS_PORT }) });
        started.push(running);
        await running.start();
        const answer = await fetch(`http://127.0.0.1:${OPS_PORT}/metrics`);
        const metrics = await answer.text();
        expect(answer.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
        expect(metrics).to.match(/^rides_queue_jobs\{queue="webhooks",state="wait"\} \d+$/m);
        expect(metrics).to.include(`rides_build_info{version="${build.release}",commit="",`);
        expect(await promtool(['check', 'metrics'], metrics)).to.equal('');
        expect((await fetch(`http://127.0.0.1:${OPS_PORT}/readyz`)).status).to.equal(200);
      });
    }
  });

  it('the alert rules pass the checks of promtool, with tests of each firing and not firing', async () => {
    expect(await promtool(['check', 'rules', 'alerts.yml'])).to.equal('');
    expect(await promtool(['test', 'rules', 'alerts.test.yml'])).to.equal('');
    const names = await alertNames();
    const tests = (await read('alerts.test.yml')).split('\n  - name: ').slice(1);
    for (const name of names) {
      const own = tests.filter((test) => test.includes(`alertname: ${name}\n`));
      for (const outcome of ['exp_labels', 'exp_alerts: []']) {
        expect(own.join(), name).to.include(outcome);
      }
    }
  });

  it('the runbook has one line per alert, and no other lines', async () => {
    const runbook = await read('../operations.md');
    const lines = [...runbook.matchAll(/^\| <a id="(\w+)"><\/a>`(Rides\w+)` \| .+ \| .+ \|$/gm)];
    expect(lines.map(([, , name]) => name)).to.have.members(await alertNames());
    for (const [, anchor, name = ''] of lines) expect(anchor).to.equal(name.toLowerCase());
  });

  it('the metrics include every metric that the alert rules and the dashboard use', async () => {
    measureProcess('test');
    const kept = new Set([
      ...(await registry.getMetricsAsJSON()).flatMap(({ name, type }) => seriesOf(name, type)),
      ...ofPrometheus,
    ]);
    const ofDashboard = await expressionsOfDashboard();
    const ofAlerts = [...(await read('alerts.yml')).matchAll(/^ {8}expr: '?(.+?)'?$/gm)].map(([, expr = '']) => expr);
    expect(ofAlerts).to.have.length((await alertNames()).length);
    for (const expr of [...ofDashboard, ...ofAlerts]) {
      const named = namesIn(expr);
      expect(named, expr).not.to.deep.equal([]);
      for (const name of named) expect([...kept], expr).to.include(name);
    }
  });

  it('metrics of shared state appear once on the dashboard, for any number of processes', async () => {
    const shared =
      /rides_(oldest_\w+|queue_jobs|warning|dependency_up|keys_failing|redis_memory\w+|mongo_disk\w+|backup_\w+)/;
    const shown = (await expressionsOfDashboard()).filter((expr) => shared.test(expr));
    expect(shown.length).to.be.greaterThan(8);
    for (const expr of shown) expect(expr).to.match(/^(1 - )?max( by \((queue|warning|dependency)\))? ?\(/);
  });

  async function expressionsOfDashboard(): Promise<string[]> {
    const { panels } = JSON.parse(await read('grafana-dashboard.json')) as {
      panels: { targets?: { expr: string }[] }[];
    };
    return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  }
  const alertNames = async () =>
    [...(await read('alerts.yml')).matchAll(/^ {6}- alert: (\w+)$/gm)].map(([, name = '']) => name);
});

function seriesOf(name: string, type: unknown): string[] {
  return String(type) === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`) : [name];
}

/** The metrics of an expression: the words that are not functions, labels, strings or clauses. */
function namesIn(expr: string): string[] {
  const bare = expr
    .replace(/"[^"]*"/g, '')
    .replace(/\b(by|on|without|group_left|group_right) *\([^)]*\)/g, '')
    .replace(/\{[^}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '');
  return [...bare.matchAll(/\b[a-z_]\w*\b(?! *\()/g)]
    .map(([name]) => name)
    .filter((name) => !['and', 'or', 'unless'].includes(name));
}
