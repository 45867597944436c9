import fs from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { ops } from '../../cli/ops/ops-commands.ts';
import { onlyAllowed } from '../../shared/base/logger.ts';
import { poolNames } from '../../shared/base/queues.ts';
import { redisProblemTexts } from '../../shared/base/redis-problem.ts';
import { settingTopics } from '../../shared/base/settings.ts';
import { opsFolder } from './prometheus.ts';

const root = path.join(opsFolder, '..', '..');

/** Commands and words of other programs, which the service does not define. */
const foreign = [
  ...[/^docker (compose (ps|logs)( \w+)?|inspect)$/, /^redis-cli config set maxmemory \w+$/],
  /^(systemctl list-units|journalctl -u) 'rides-\*'$/,
  ...[/^(OOMKilled|PUT|hz|maxmemory|maxmemory-policy noeviction|appendonly yes)$/],
  // Codes of a provider of text messages, as the log shows them.
  /^(error|status)_\d+$/,
  ...[/^OOM command not allowed$/, /^(WRONGPASS|NOAUTH|LOADING|MISCONF)$/],
];

describe('the runbook of the alerts in docs/operations.md', () => {
  let runbook: string;
  let rules: string;
  let sources: string;
  before(async () => {
    const doc = await fs.readFile(path.join(root, 'docs/operations.md'), 'utf8');
    const part = (from: string, to: string) => doc.slice(doc.indexOf(`\n${from}\n`), doc.indexOf(`\n${to}\n`));
    runbook = part('## Alerts', '### Postponed events') + part('### Warnings', '## Logs');
    rules = await fs.readFile(path.join(opsFolder, 'alerts.yml'), 'utf8');
    sources = (await Promise.all(['api', 'shared', 'workers'].map(sourcesIn))).flat().join('\n');
  });

  it('every name in code style in the runbook exists: alerts, metrics, labels, log fields, settings, pools, commands', () => {
    const settings = Object.values(settingTopics).flatMap((topic) => Object.keys(topic));
    const labels = [
      'tier',
      'severity',
      ...[...rules.matchAll(/by \(([^)]+)\)/g)].flatMap(([, list = '']) => list.split(', ')),
    ];
    const warnings = [...sources.matchAll(/^ {2}(\w+):\s+['"`]/gm)].map(([, name = '']) => name);
    const services = new Set(['api', 'migrate', ...poolNames]);
    const isKnown = (name: string) =>
      foreign.some((pattern) => pattern.test(name)) ||
      rules.includes(`alert: ${name}\n`) ||
      sources.includes(`'${name.replace(/ == 0$/, '')}'`) ||
      [...settings, ...labels, ...services, ...warnings, ...Object.keys(redisProblemTexts)].includes(name) ||
      onlyAllowed({ [name]: 1 })[name] === 1 ||
      ['severity: page', 'severity: ticket', '/position', 'code', 'job'].includes(name) ||
      isCommand(name);
    const names = [...runbook.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    expect(names.length).to.be.greaterThan(60);
    expect(names.filter((name) => !isKnown(name))).to.deep.equal([]);
  });

  it('every log line that the runbook names is written by the service', () => {
    const named = [...runbook.matchAll(/\b(?:log lines|a line|its|The log line) `([^`]+)`/g)].map(
      ([, line = '']) => line,
    );
    expect(named).to.include.members(['request failed', 'sweep failed', 'a fault in this process postpones events']);
    for (const line of named) expect(sources, line).to.include(`'${line}'`);
  });

  it('every panel and every text that the runbook quotes exists', async () => {
    const dashboard = await fs.readFile(path.join(opsFolder, 'grafana-dashboard.json'), 'utf8');
    const quoted = [...runbook.replace(/<a id="\w+">/g, '').matchAll(/"([^"]+)"/g)].map(([, text = '']) => text);
    expect(quoted.length).to.be.greaterThan(3);
    const texts = Object.values(redisProblemTexts);
    for (const text of quoted) {
      const isShown = dashboard.includes(`"title": "${text}"`) || texts.some((shown) => shown.startsWith(text));
      expect(isShown, text).to.equal(true);
    }
  });

  it('each alert has the address of its runbook, and each pool and problem of Redis has its words', () => {
    for (const [, name = '', rule = ''] of rules.matchAll(/- alert: (\w+)\n(.*?runbook: \S+)/gs)) {
      expect(rule).to.include(`runbook: docs/operations.md#${name.toLowerCase()}`);
    }
    const { redis_away: _, ...warned } = redisProblemTexts;
    for (const word of Object.keys(warned)) expect(runbook).to.include(`| \`${word}\` |`);
  });
});

/** True for `ops NAME` with options that the command has. */
function isCommand(words: string): boolean {
  const [program, name = '', ...options] = words.split(' ');
  const command = ops.commands[name];
  if (program !== 'ops' || !command) return false;
  const flags = Object.keys({ ...command.needed, ...command.options }).map((given) => given.split(' ')[0]);
  return options.every((option) => flags.includes(option));
}

async function sourcesIn(folder: string): Promise<string[]> {
  const files = await fs.readdir(path.join(root, folder), { recursive: true });
  const ofCode = files.filter((file) => /\.tsx?$/.test(file));
  return Promise.all(ofCode.map((file) => fs.readFile(path.join(root, folder, file), 'utf8')));
}
