/**
 * All checks of `npm run check`, in the order in which they run. `ci` marks those that `.ci/run` runs for each change.
 * `paths` lists the files and folders whose changes concern the check (`--since`); without it, every change does.
 */

const service = ['api/', 'web/', 'workers/', 'shared/', 'package.json', 'package-lock.json'];
const withCommands = [...service, 'cli/', 'dev/'];
const tests = 'test/support/';
const mocha =
  'node node_modules/mocha/bin/mocha.js --no-config --require tsx --require ./test/support/hooks.ts --timeout 60000';
/** Puts the Node version of the production image first in the path. */
const shippedNode = 'node=$(.ci/shipped-node) && export PATH="$node:$PATH" && node --version';

export const checks = [
  {
    name: 'test',
    proves: "the service keeps the contract and this project's promises (the README's test command)",
    command: 'npm ci && npm test',
    paths: [
      ...withCommands,
      tests,
      'test/api/',
      'test/web/docs/',
      'test/workers/',
      'test/shared/',
      'test/faults/check/',
      'docs/',
    ],
    ci: true,
  },
  {
    name: 'pages',
    proves: "the dashboard, the desk, the live map and the operators' pages do what their forms and texts promise",
    command: 'npm run -s test:pages',
    paths: ['api/', 'web/', 'shared/', tests, 'test/web/'],
    ci: true,
  },
  { name: 'types', proves: 'the types fit', command: 'npm run -s typecheck', ci: true },
  { name: 'lint', proves: 'style and format are right', command: 'npm run -s lint', ci: true },
  { name: 'build', proves: 'the service compiles', command: 'npm run -s build', paths: withCommands, ci: true },
  {
    name: 'demo',
    proves: "the README's first command plays a test ride",
    command: 'SIMULATION_SPEED=10 npm run -s demo',
    paths: withCommands,
    ci: true,
  },
  {
    name: 'processes',
    proves: 'separate processes survive kills and outages, and the commands for development work',
    command: 'npm run -s test:stack',
    paths: [...withCommands, tests, 'test/dev/', 'test/e2e/', 'test/check/'],
    ci: true,
  },
  {
    name: 'walk',
    proves: 'every page opens in Chromium, on a phone and on a desktop, without a complaint, and is accessible',
    // One mocha process loads the list of assets before its setup could build them.
    command: `npm run -s assets && ${mocha} --require ./test/browser/hooks.ts test/browser/walk.test.ts`,
    paths: ['api/', 'web/', 'shared/', tests, 'test/browser/'],
    ci: true,
  },
  {
    name: 'browser',
    proves: 'the scripts, the layout and the accessibility of every page are right',
    command: 'npm run -s test:browser',
    paths: ['api/', 'web/', 'shared/', tests, 'test/browser/'],
  },
  {
    name: 'mutants',
    proves: 'a test fails for at least 90 % of small changes to the pure files',
    command: 'npm run -s mutants',
    paths: ['shared/', 'api/', 'web/', 'test/mutants/', 'test/shared/', 'test/api/', 'test/web/'],
  },
  {
    name: 'live-demo',
    proves: 'a live ride is played to its end',
    command: 'SIMULATION_SPEED=20 npm run -s demo -- --live',
    paths: withCommands,
  },
  {
    name: 'sbom',
    proves: 'npm can list the packages that ship',
    command: 'mkdir -p .cache && npm sbom --sbom-format cyclonedx --omit dev >.cache/sbom.cdx.json',
    paths: ['package.json', 'package-lock.json'],
  },
  {
    name: 'docs',
    proves: "every command and sample of the partners' and drivers' pages runs, and generated clients compile",
    command: 'npm run -s test:docs',
    paths: ['api/', 'web/', 'shared/', 'docs/', 'dev/', tests, 'test/docs/'],
  },
  {
    name: 'clients',
    proves: 'the packed clients keep their promises, against the service and against lost answers and webhooks',
    command: `${mocha} 'test/clients/*.test.ts'`,
    paths: ['api/', 'web/', 'shared/', 'clients/', 'docs/examples/', tests, 'test/clients/'],
  },
  {
    name: 'streets',
    proves:
      'the street file is what its script makes, and the routing server of the development stack finds the same ways as Valhalla',
    command: `node --import tsx dev/streets/derive.ts && git diff --exit-code --stat dev/streets/gothenburg.tsv && node node_modules/mocha/bin/mocha.js --no-config --require tsx --timeout 600000 test/streets/engine.test.ts`,
    paths: ['dev/streets/', 'test/streets/'],
  },
  {
    // The procedures take longest, so they start first.
    name: 'production',
    proves: 'Caddy, Compose, systemd, Kubernetes and Prometheus accept the production files, and the procedures work',
    command: `${mocha} --parallel --jobs 2 'test/production/o*.test.ts' 'test/production/[!o]*.test.ts'`,
    paths: [...withCommands, 'deploy/', 'docs/', 'Dockerfile', 'Caddyfile', 'docker-compose.yml', 'test/production/'],
  },
  {
    // feed-clock-steps tests MongoDB's clock, which does not depend on Node.
    name: 'shipped-node',
    proves: 'contract, attempts and processes hold on the Node version that ships',
    command: `${shippedNode} && ${mocha} --parallel --jobs 4 --ignore test/api/feed-clock-steps.test.ts 'test/e2e/**/*.test.ts' 'test/api/{*,drivers/*}.test.ts' 'test/workers/webhooks/send-*.test.ts'`,
    paths: [...service, 'Dockerfile', '.ci/'],
  },
  {
    name: 'shipped-demo',
    proves: 'the demo runs on the Node version that ships',
    command: `${shippedNode} && SIMULATION_SPEED=10 npm run -s demo`,
    paths: [...withCommands, 'Dockerfile', '.ci/'],
  },
  {
    name: 'checker',
    proves: 'the fault suite finds every bug that the test plants in the service',
    command: 'npm run -s test:faults',
    paths: [...service, 'dev/', 'test/faults/'],
  },
  {
    // The fixed seed makes runs comparable.
    name: 'faults',
    proves: 'every promise holds under each kind of fault, under load',
    command: 'npm run -s faults -- --seed 4 --rounds 18 --short',
    paths: [...service, 'dev/', 'test/faults/'],
  },
  {
    name: 'replica-set',
    proves: 'operations, gateway and workers keep their promises on a replica set, also during a failover',
    command: 'npm run -s test:replica-set',
    paths: [...service, tests, 'test/api/', 'test/workers/', 'test/shared/rides/'],
  },
  {
    name: 'replica-set-faults',
    proves: 'every promise holds on a replica set under faults',
    command: 'npm run -s faults -- --seed 4 --replica-set --short',
    paths: [...service, 'dev/', 'test/faults/'],
  },
];
