import fs from 'node:fs/promises';
import path from 'node:path';

/** One entry of apt's sources, with the field names of its deb822 format. */
export type AptSource = { uris: string; suites: string; components: string; signedBy?: string; trusted?: string };

/** An entry in deb822 format for another release of the distribution, from the archive that this machine uses. */
export async function sourceOfRelease(suite: string): Promise<string> {
  const own = await ownArchive();
  const lines = ['Types: deb', `URIs: ${own.uris}`, `Suites: ${suite}`, 'Components: main'];
  if (own.signedBy) lines.push(`Signed-By: ${own.signedBy}`);
  if (own.trusted) lines.push(`Trusted: ${own.trusted}`);
  return `${lines.join('\n')}\n`;
}

/** The values of /etc/os-release; empty on a system without one. */
export async function osRelease(): Promise<Record<string, string>> {
  const text = await fs.readFile('/etc/os-release', 'utf8').catch(() => '');
  const values: Record<string, string> = {};
  for (const [, key = '', value = ''] of text.matchAll(/^([A-Z_]+)="?(.*?)"?$/gm)) values[key] = value;
  return values;
}

/** The distribution's main archive, not its security updates and not a third party's packages. */
async function ownArchive(): Promise<AptSource> {
  const release = await osRelease();
  const names = new Set([release.VERSION_CODENAME, release.UBUNTU_CODENAME, release.DEBIAN_CODENAME]);
  for (const alias of ['stable', 'oldstable', 'testing', 'unstable', 'sid']) names.add(alias);
  const own = (await readSources()).find((source) => source.suites.split(/\s+/).some((suite) => names.has(suite)));
  if (!own) throw new Error('no apt source of this release was found under /etc/apt');
  return own;
}

async function readSources(): Promise<AptSource[]> {
  const folder = '/etc/apt/sources.list.d';
  const names = await fs.readdir(folder).catch(() => []);
  const sources: AptSource[] = [];
  for (const file of ['/etc/apt/sources.list', ...names.sort().map((name) => path.join(folder, name))]) {
    const text = await fs.readFile(file, 'utf8').catch(() => '');
    if (file.endsWith('.sources')) sources.push(...parseDeb822(text));
    else if (file.endsWith('.list')) sources.push(...parseOneLine(text));
  }
  return sources;
}

/** The newer format: stanzas of `Field: value`, where a line that starts with a space or tab continues the value. */
export function parseDeb822(text: string): AptSource[] {
  const withoutComments = text.replace(/^#.*\n?/gm, '');
  return withoutComments.split(/\n\s*\n/).flatMap((stanza) => {
    const fields: Record<string, string> = {};
    for (const [, name = '', value = ''] of stanza.matchAll(/^([\w-]+):[ \t]*((?:.*)(?:\n[ \t]+.*)*)/gm)) {
      fields[name.toLowerCase()] = value.trimEnd();
    }
    const { types = '', uris, suites, components = '', enabled = 'yes' } = fields;
    if (!types.split(/\s+/).includes('deb') || !uris || !suites || enabled.toLowerCase() === 'no') return [];
    return [{ uris, suites, components, signedBy: fields['signed-by'], trusted: fields.trusted }];
  });
}

/** The older format: `deb [signed-by=/a/key.gpg] http://archive/ suite component component`. */
export function parseOneLine(text: string): AptSource[] {
  const lines = text.matchAll(/^[ \t]*deb[ \t]+(?:\[([^\]]*)\][ \t]+)?(\S+)[ \t]+(\S+)[ \t]*([^#\n]*)/gm);
  return [...lines].map(([, options = '', uris = '', suites = '', components = '']) => ({
    uris,
    suites,
    components: components.trim(),
    signedBy: options.match(/signed-by=(\S+)/i)?.[1]?.replaceAll(',', ' '),
    trusted: options.match(/trusted=(\S+)/i)?.[1],
  }));
}
