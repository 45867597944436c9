import fs from 'node:fs/promises';
import path from 'node:path';
import { readConfig, readValidSettings, shownSettings } from '../../shared/base/config.ts';
import type { SecretsKeys } from '../../shared/base/encryption.ts';
import { AppError } from '../../shared/base/errors.ts';
import { UsageError } from '../../shared/process/command-line.ts';
import { openContext } from '../../shared/process/open-context.ts';
import { findingsWithout, orError, safeLogLines, tarGz, versions } from '../../shared/process/ops/doctor/bundle.ts';
import { hostOf } from '../../shared/process/ops/doctor/check-network.ts';
import { examine } from '../../shared/process/ops/doctor/doctor.ts';
import type { Finding } from '../../shared/process/ops/doctor/findings.ts';
import { readBacklogReport, readQueues } from '../../shared/process/ops/queue-states.ts';
import { commandOf, type Environment } from '../program.ts';

const command = commandOf<Environment>();
const checked = {
  '--https-target <URL>': 'an https address, which gets a HEAD request; default: none',
  '--disk <DIR>': 'a folder on the disk to check; default: here',
} as const;

/** The commands that work while a server or a setting is at fault: they connect on their own. */
export const doctorCommands = {
  doctor: command({
    summary: 'checks settings, servers and network',
    options: checked,
    about: `Checks the settings of this command, the indexes, clocks,
replica set, Redis, DNS, outgoing HTTPS, the mail server,
the disk and the certificate of PUBLIC_BASE_URL. Each check
takes at most 3 seconds. Exits with code 1 if one is red.`,
    examples: [
      `PROGRAM doctor \\
    --https-target https://partner.example`,
    ],
    connectsAlone: true,
    read: readChecked,
    run: async ({ env }, { httpsTarget, disk }) => ({ findings: await examine(env, { httpsTarget, disk }) }),
    hasFailed: ({ findings }) => findings.some(({ state }) => state === 'red'),
    print: ({ findings }) => findings.flatMap(lineOf),
  }),
  bundle: command({
    summary: 'collects facts for a report about a fault',
    needed: { '--to <FILE.tar.gz>': 'the file to write' },
    options: { '--log <FILES>': 'log files, separated by commas', ...checked },
    about: `Collects the findings of doctor, the names of the settings,
the states of the queues, versions and the last log lines.
Contains no keys, names, phones, addresses or other personal
data: of the settings only numbers and words from a list, of
the logs only known fields.`,
    examples: [
      `PROGRAM bundle --to report.tar.gz \\
    --log /var/log/rides/api.log`,
    ],
    connectsAlone: true,
    read({ to, log, ...values }) {
      const logs = log?.split(',').flatMap((file) => file.trim() || []) ?? [];
      return { to, logs, ...readChecked(values) };
    },
    async run({ env }, { to, logs, ...examination }) {
      const { publicBaseUrl } = readValidSettings(env).config;
      const hosts = [publicBaseUrl, examination.httpsTarget].flatMap((address) => (address ? hostOf(address) : []));
      const found = findingsWithout([examination.disk, ...hosts], await examine(env, examination));
      const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
      const files: Record<string, string> = {
        'doctor.json': json(found),
        'settings.json': json(shownSettings(env)),
        'versions.json': json(versions()),
        'queues.json': json(await orError(() => queueStates(env))),
      };
      for (const [index, log] of logs.entries()) {
        const lines = await safeLogLines(log).catch(() => {
          throw new AppError('invalid_request', { message: `The log ${log} cannot be read` });
        });
        files[`log-${index + 1}.jsonl`] = `${lines.join('\n')}\n`;
      }
      await fs.writeFile(to, tarGz(files, new Date()), { mode: 0o600 });
      return { file: path.resolve(to), files: Object.keys(files) };
    },
    print: ({ file, files }) => [`Collected ${files.join(', ')} in ${file}.`, 'Look through it before you pass it on.'],
  }),
};

function readChecked({ httpsTarget, disk = '.' }: { httpsTarget?: string; disk?: string }) {
  if (httpsTarget !== undefined && !(URL.canParse(httpsTarget) && httpsTarget.startsWith('https://')))
    throw new UsageError('--https-target needs an address that begins with https://');
  return { httpsTarget, disk: path.resolve(disk) };
}

const marks = { ok: 'ok     ', red: 'RED    ', skipped: 'skipped' } as const;
const lineOf = ({ check, state, found, todo }: Finding): string[] => [
  `${marks[state]}  ${check.padEnd(17)}  ${found}`,
  ...(todo ? [`${' '.repeat(28)}${todo}`] : []),
];

/** The queues and the backlog, without the names of keys. */
async function queueStates(env: NodeJS.ProcessEnv | undefined): Promise<object> {
  const config = readConfig(env, { without: ['SECRETS_KEY'] });
  // Without keys, the start does not compare SECRETS_KEY with the database: a wrong one must not prevent the bundle.
  const secrets = { ...config.secrets, keys: [] as unknown as SecretsKeys };
  const ctx = await openContext({ ...config, secrets, logLevel: 'silent', traces: undefined }, 'ops');
  try {
    const { waitingByKey, ...backlog } = await readBacklogReport();
    const keys = waitingByKey.map(({ keyId, rides, failuresInRow, reason }) => ({
      keyId,
      rides,
      failuresInRow,
      reason,
    }));
    return { ...(await readQueues(ctx)), backlog: { ...backlog, waitingByKey: keys } };
  } finally {
    await ctx.close();
  }
}
