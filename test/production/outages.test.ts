import fs from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { useFolder } from '../support/folder.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-started.ts';
import { type Alertmanager, type Labels, opsFolder, promtool, startAlertmanager } from './prometheus.ts';

/** An outage in outages.test.yml: its title, and the alerts that fire at each of its times. */
interface Outage {
  title: string;
  firing: Labels[][];
}

const fileOfOutages = path.join(opsFolder, 'outages.test.yml');

async function readOutages(): Promise<Outage[]> {
  const [, ...cases] = (await fs.readFile(fileOfOutages, 'utf8')).split('\n  - name: ');
  return cases.map((each) => {
    const [, title = ''] = /^'(.+)'/.exec(each) ?? [];
    const [, ...times] = each.split('- expr: ALERTS{alertstate="firing"}\n');
    const labels = (sample: string) =>
      Object.fromEntries([...sample.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]));
    const alertsIn = (time: string) =>
      [...time.matchAll(/'ALERTS\{(.+)\}'/g)].map(([, sample = '']) => {
        const { alertstate: _, ...own } = labels(sample);
        return own;
      });
    return { title, firing: times.map(alertsIn) };
  });
}

describe('the alerts of a whole outage', function () {
  // The first run on a machine fetches promtool and Alertmanager.
  this.timeout(180_000);

  const folder = useFolder();
  const alertmanager = useStarted(async () => {
    const { stop, ...started } = await startAlertmanager(folder.path);
    return { ...started, close: stop };
  }) as Omit<Alertmanager, 'stop'> & { close(): unknown };
  let outages: Outage[];
  before(async () => {
    outages = await readOutages();
  });

  it("Prometheus's rules fire as outages.test.yml says, before, during and after each outage", async () => {
    expect(await promtool(['test', 'rules', 'outages.test.yml'])).to.equal('');
    expect(outages.length).to.be.at.least(14);
  });

  it('an outage pages once, however many alerts fire, and one that needs nobody at once does not page', async () => {
    for (const { title, firing } of outages) {
      const paged = new Set<string>();
      for (const alerts of firing) {
        const pages = alerts.filter(({ severity }) => severity === 'page').map(({ tier = '' }) => tier);
        const cause = pages.sort()[0];
        await alertmanager.setFiring(alerts);
        // Alertmanager mutes effects a moment after it has received their cause.
        await until(async () => {
          const notified = new Set((await alertmanager.notifiedOf('pager')).map(({ tier = '' }) => tier));
          return notified.size === (cause ? 1 : 0) && (!cause || notified.has(cause));
        });
        if (cause) paged.add(cause);
      }
      const [, expected] = /: (one|no) page/.exec(title) ?? [];
      expect([...paged], title).to.have.length(expected === 'one' ? 1 : 0);
    }
  });

  it('one failing partner makes a ticket, and a page notifies nobody of a ticket', async () => {
    const partner = outages.find(({ title }) => title.includes('one partner'));
    await alertmanager.setFiring(partner?.firing.at(-1) ?? []);
    expect((await alertmanager.notifiedOf('tickets')).map(({ alertname }) => alertname)).to.deep.equal([
      'RidesPartnerFails',
    ]);
    expect(await alertmanager.notifiedOf('pager')).to.deep.equal([]);
  });

  it('an alert mutes exactly its effects: a second failure with another cause pages too', async () => {
    const rules = await fs.readFile(path.join(opsFolder, 'alerts.yml'), 'utf8');
    const all = rules
      .split('      - alert: ')
      .slice(1)
      .map((rule): Labels => {
        const [, tier] = /tier: "(\d)"/.exec(rule) ?? [];
        const [, severity = ''] = /severity: (\w+)/.exec(rule) ?? [];
        return { alertname: rule.split('\n')[0] ?? '', severity, ...(tier && { tier }) };
      });
    const named = (labels: readonly Labels[]) => labels.map(({ alertname = '' }) => alertname).sort();
    const ofTiers = (tiers: string) => all.filter(({ tier = '' }) => tier !== '' && tiers.includes(tier));
    const isOfRequests = ({ alertname = '' }) => /^RidesUnreachable$|^RidesRequests/.test(alertname);
    const fifth = ofTiers('5');
    const [requests, work] = [fifth.filter(isOfRequests), fifth.filter((alert) => !isOfRequests(alert))];
    expect([requests.length, work.length]).to.deep.equal([3, 4]);
    const away = (dependency: string) => ofTiers('2').map((alert) => ({ ...alert, dependency }));

    // Each cause, the tiers that fire with it, and the alerts that are shown beside it.
    const cases: [Labels[], string, Labels[]][] = [
      [ofTiers('1'), '3456', []],
      [away('mongo'), '3456', []],
      [away('redis'), '3456', ofTiers('3')],
      [away('redis'), '456', requests],
      [ofTiers('3'), '456', ofTiers('4')],
      [ofTiers('3'), '56', work],
      [ofTiers('4'), '56', requests],
      [ofTiers('5'), '6', []],
      [ofTiers('6'), '', []],
    ];
    const untiered = all.filter(({ tier }) => tier === undefined);
    for (const [cause, others, shown] of cases) {
      await alertmanager.setFiring([...cause, ...ofTiers(others), ...untiered]);
      const expected = named([...cause, ...shown, ...untiered]).join();
      const notified = async () =>
        named([...(await alertmanager.notifiedOf('pager')), ...(await alertmanager.notifiedOf('tickets'))]).join();
      await until(async () => (await notified()) === expected);
    }
  });
});
