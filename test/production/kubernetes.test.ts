import { expect } from 'chai';
import { readConfig } from '../../shared/base/config.ts';
import { registry } from '../../shared/base/metrics.ts';
import { poolNames } from '../../shared/base/queues.ts';
import { build } from '../../shared/base/version.ts';
import { complaintsOf, type Manifest, readManifests } from './kubernetes.ts';

describe('deploy/kubernetes', function () {
  this.timeout(120_000);

  let manifests: Manifest[];
  const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind);
  const named = (kind: string, name: string): Manifest => {
    const found = ofKind(kind).find(({ metadata }) => metadata.name === name);
    if (!found) throw new Error(`${kind} ${name} is missing`);
    return found;
  };
  /** Deployments, the Job of `migrate` and that of the backup. */
  const workloads = () => [
    ...ofKind('Deployment'),
    ...ofKind('Job'),
    ...ofKind('CronJob').map(({ spec, ...cron }): Manifest => ({ ...cron, spec: spec.jobTemplate.spec })),
  ];
  const podOf = (workload: Manifest) => workload.spec.template.spec;
  const containerOf = (workload: Manifest) => podOf(workload).containers[0];

  const labelsOf = (workload: Manifest): Record<string, string> => workload.spec.template.metadata.labels;
  const finds = ({ matchLabels = {}, matchExpressions = [] }: Manifest, labels: Record<string, string>) =>
    Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
    matchExpressions.every(({ key, operator }: Manifest) => operator === 'Exists' && key in labels);

  /** The environment of a workload's process. */
  function environmentOf(workload: Manifest): Record<string, string> {
    const sources = containerOf(workload).envFrom.flatMap(({ configMapRef, secretRef }: Manifest) => {
      if (configMapRef) return named('ConfigMap', configMapRef.name).data;
      return secretRef.optional ? [] : named('Secret', secretRef.name).stringData;
    });
    return Object.assign({}, ...sources);
  }

  before(async () => {
    manifests = await readManifests();
  });

  it('every manifest is valid', async () => {
    expect(manifests).to.have.length.above(10);
    expect(await complaintsOf(manifests)).to.equal('');
  });

  const faults: [fault: string, plant: (api: Manifest) => unknown][] = [
    ['a misspelt field of a container', (api) => Object.assign(containerOf(api), { livenesProbe: {} })],
    ['a misspelt field inside a probe', (api) => Object.assign(containerOf(api).readinessProbe.httpGet, { pth: '/' })],
    ['a text instead of a number', (api) => Object.assign(podOf(api), { terminationGracePeriodSeconds: '30 s' })],
    ['a missing selector', (api) => delete api.spec.selector],
  ];
  for (const [fault, plant] of faults) {
    it(`the check of the manifests finds ${fault}`, async () => {
      const api = structuredClone(named('Deployment', 'rides-api'));
      plant(api);
      expect(await complaintsOf([api])).to.match(/^Deployment rides-api: /);
    });
  }

  it('there is one Deployment for the API and one for each pool, and all run the image of this version', () => {
    const commands = Object.fromEntries(
      workloads().map((workload) => [workload.metadata.name, containerOf(workload).args.join(' ')]),
    );
    expect(commands['rides-backup']).to.match(/^sh -c node dist\/cli\/ops\.js backup --to "\/backup\/\$\(date /);
    delete commands['rides-backup'];
    expect(commands).to.deep.equal({
      'rides-api': 'node dist/api/main.js',
      ...Object.fromEntries(poolNames.map((pool) => [`rides-${pool}`, `node dist/workers/main.js ${pool}`])),
      [`rides-migrate-${build.release.replaceAll('.', '-')}`]: 'node dist/cli/migrate.js',
    });
    for (const workload of workloads()) {
      expect(containerOf(workload).image).to.equal(`ride-partner-api:${build.release}`);
    }
  });

  it('every process has valid settings, and only those that encrypt or decrypt have SECRETS_KEY', () => {
    const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
    const holders = workloads().filter((workload) => {
      const environment = environmentOf(workload);
      const holds = 'SECRETS_KEY' in environment;
      const config = readConfig({ ...environment, ...(holds && { SECRETS_KEY }) }, { without: ['SECRETS_KEY'] });
      expect(config.ops, workload.metadata.name).to.deep.equal({ host: '0.0.0.0', port: 4180, auth: 'shared' });
      return holds;
    });
    const names = holders.map(({ metadata }) => metadata.name.replace(/rides-|-\d.*/g, ''));
    expect(names).to.have.members(['api', 'mail', 'messages', 'migrate', 'webhooks', 'webhooks-slow']);
  });

  it('every process is confined, has limits and probes, and has more time to stop than it needs', () => {
    for (const workload of workloads()) {
      const { resources, securityContext, livenessProbe, readinessProbe } = containerOf(workload);
      const { name } = workload.metadata;
      expect(securityContext, name).to.deep.equal({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(resources.limits, name).to.have.all.keys('memory');
      expect(resources.requests, name).to.have.all.keys('cpu', 'memory');
      if (workload.kind !== 'Deployment') continue;
      expect(livenessProbe.httpGet, name).to.deep.equal({ path: '/healthz', port: 'ops' });
      expect(readinessProbe.httpGet, name).to.deep.equal({ path: '/readyz', port: 'ops' });
      const { SECRETS_KEY: _, ...environment } = environmentOf(workload);
      const graceMs = readConfig(environment, { without: ['SECRETS_KEY'] }).shutdownGraceMs;
      expect(podOf(workload).terminationGracePeriodSeconds * 1_000, name).to.be.above(graceMs * 2);
    }
  });

  it("only Prometheus reaches the operators' port of a pod, and everybody that of the API", () => {
    const open = (workload: Manifest) =>
      ofKind('NetworkPolicy')
        .filter(({ spec }) => finds(spec.podSelector, labelsOf(workload)))
        .flatMap(({ spec }) => spec.ingress)
        .flatMap(({ from, ports }: Manifest) => ports.map(({ port }: Manifest) => [port, from ? 'some' : 'all']));
    for (const workload of workloads()) {
      const isApi = workload.metadata.name === 'rides-api';
      const expected = [[4180, 'some'], ...(isApi ? [[4100, 'all']] : [])];
      expect(open(workload), workload.metadata.name).to.have.deep.members(expected);
    }
  });

  it('every selector finds pods, and a disruption budget covers every Deployment', () => {
    const budgets = ofKind('PodDisruptionBudget').map(({ spec }) => spec.selector);
    for (const deployment of ofKind('Deployment')) {
      const { name } = deployment.metadata;
      expect(finds(deployment.spec.selector, labelsOf(deployment)), name).to.equal(true);
      expect(
        budgets.filter((selector) => finds(selector, labelsOf(deployment))),
        name,
      ).to.have.length(1);
    }
    for (const selector of budgets) expect(finds(selector, { pool: 'bidding' }), 'pods of others').to.equal(false);
    const { selector, ports } = named('Service', 'rides-api').spec;
    expect(labelsOf(named('Deployment', 'rides-api'))).to.deep.equal(selector);
    expect(ports[0].targetPort).to.equal('http');
  });

  it('every Deployment scales, the pools by metrics that the service exports', () => {
    const scaled = ofKind('HorizontalPodAutoscaler').map(({ spec }) => spec.scaleTargetRef.name);
    expect(scaled).to.have.members(ofKind('Deployment').map(({ metadata }) => metadata.name));
    for (const { spec, metadata } of ofKind('HorizontalPodAutoscaler')) {
      const [metric] = spec.metrics;
      if (metric.type === 'External') {
        expect(registry.getSingleMetric(metric.external.metric.name), metadata.name).not.to.equal(undefined);
      } else expect(metadata.name).to.equal('rides-api');
    }
  });
});
