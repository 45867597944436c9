import { settingTopics } from '../../shared/base/settings.ts';

/** The parts of a setting's Joi description that the page shows. */
interface Described {
  type?: string;
  flags?: { presence?: string; default?: unknown; description?: string; unit?: string; only?: boolean };
  rules?: { name: string; args?: { limit?: number } }[];
  allow?: unknown[];
  examples?: string[];
  notes?: string[];
  tags?: string[];
  metas?: { default?: string }[];
  whens?: Condition[];
}

/** A setting that is required only if another one is set. */
interface Condition {
  ref: { path: string[] };
  is: Described;
}

const introduction = `# Settings

\`npm run docs:settings\` generates this page from the rules in \`shared/base/settings.ts\`: change the descriptions there.

Settings are environment variables. A process reads them once, when it starts. An empty variable counts as unset. If a
setting is missing or wrong, the process does not start, and prints one line for each such setting.

"Read by" names the processes that use a setting: \`API\`, \`workers\` (the processes of every pool), one pool, or one of the commands
\`migrate\`, \`keys\`, \`drivers\` and \`ops\`. A required setting is required only by the processes that read it.
`;

const heading = ['| setting | default | values | read by | meaning |', '|---|---|---|---|---|'];

/** The text of docs/settings.md. */
export function settingsPage(): string {
  const sections = Object.entries(settingTopics).map(([topic, settings]) => {
    const rows = Object.entries(settings).map(([name, setting]) => rowOf(name, setting.describe() as Described));
    return [`## ${topic}`, '', ...heading, ...rows, ''].join('\n');
  });
  return [introduction, ...sections].join('\n');
}

function rowOf(name: string, setting: Described): string {
  const { flags = {}, notes = [], tags = [] } = setting;
  const readers = tags.length > 0 ? tags.join(', ') : 'all';
  const meaning = [flags.description, ...notes].join(' ');
  return `| ${[code(name), defaultOf(setting), valuesOf(setting), readers, meaning].join(' | ')} |`;
}

function defaultOf({ flags = {}, metas = [], whens = [] }: Described): string {
  const text = String(metas[0]?.default ?? flags.default ?? '');
  if (flags.presence !== 'required') return text ? code(text) : 'none';
  const required = ['required', ...whens.map(requiredWhen)].join(' ');
  return text ? `${required}; else ${code(text)}` : required;
}

function requiredWhen({ ref, is }: Condition): string {
  const value = is.allow?.find((allowed) => typeof allowed === 'string');
  return `if ${code(ref.path.join('.'))} is ${value === undefined ? 'set' : code(value)}`;
}

function valuesOf({ type, flags = {}, rules = [], allow = [], examples = [] }: Described): string {
  if (flags.only) return allow.map(code).join(', ');
  if (type === 'number') return [rangeOf(rules), flags.unit].filter(Boolean).join(' ');
  return examples.map(code).join(' or ');
}

function rangeOf(rules: NonNullable<Described['rules']>): string {
  const limit = (name: string) => rules.find((rule) => rule.name === name)?.args?.limit;
  const above = limit('greater');
  return above === undefined ? `${limit('min')} to ${limit('max')}` : `above ${above}, up to ${limit('max')}`;
}

const code = (text: unknown): string => `\`${text}\``;
