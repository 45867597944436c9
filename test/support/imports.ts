import fs from 'node:fs';
import path from 'node:path';

/** One import: static or dynamic, of values or types. */
export interface Import {
  /** A source file, as a path relative to the project root, or a package. */
  to: string;
  /** The text between `import` and `from`. */
  names: string;
}

/** The imports of each source file, by its path relative to the project root. */
export type Imports = ReadonlyMap<string, readonly Import[]>;

const root = path.resolve(import.meta.dirname, '../..');
const layers = ['api', 'web', 'workers', 'shared', 'cli', 'dev', 'test'];

const filesIn = (folders: readonly string[]): string[] =>
  folders.flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => path.join(folder, file)),
  );

/** The product's source files and styles, without what the build makes. */
export const productFiles = (): string[] =>
  filesIn(layers.filter((layer) => layer !== 'test')).filter(
    (file) => /\.(tsx?|css)$/.test(file) && !file.startsWith('web/kit/built/'),
  );

/**
 * The files with a name that another file has, in groups. A name is without its ending. A file, its style and its script
 * for the browser share a name in one folder; `main` and `routes` mean the same in each part.
 */
export function filesOfOneName(files: readonly string[]): string[][] {
  const named = new Map<string, string[]>();
  for (const file of files) {
    const name = path.basename(file).replace(/(\.browser)?\.(tsx?|css)$/, '');
    named.set(name, [...(named.get(name) ?? []), file]);
  }
  return [...named].flatMap(([name, group]) => {
    const kinds = new Set(group.map((file) => /(\.browser\.ts|\.css)$/.exec(file)?.[0]));
    const folders = new Set(group.map((file) => path.dirname(file)));
    const isOne = folders.size === 1 && kinds.size === group.length;
    return isOne || /^(main|routes)$/.test(name) ? [] : [group];
  });
}

export function readImports(): Imports {
  const files = filesIn(layers).filter((file) => /\.tsx?$/.test(file));
  return new Map(files.map((file) => [file, importsIn(file, fs.readFileSync(path.join(root, file), 'utf8'))]));
}

const statements =
  /^(?:import|export)\b([^;']*?)\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)|\brequire\w*\('([^']+)'\)/gm;

/** The imports in the source of a file. */
export const importsIn = (file: string, source: string): Import[] =>
  [...source.matchAll(statements)].map(([, names = '', ...found]) => {
    const name = found.find(Boolean) ?? '';
    return { to: name.startsWith('.') ? path.join(path.dirname(file), name) : name, names };
  });

/** The layers that each layer may import. */
const allowedLayers: Record<string, string[]> = {
  api: ['api', 'web', 'shared'],
  web: ['web', 'shared'],
  workers: ['workers', 'shared'],
  cli: ['cli', 'shared'],
  shared: ['shared'],
  dev: ['api', 'web', 'workers', 'cli', 'shared', 'dev'],
  test: layers,
};

/** The folders of shared/, from the lowest to the highest level. Folders of one level do not import each other. */
const foldersOfShared = [
  ['base'],
  ['accounts', 'mail', 'targets'],
  ['messages'],
  ['keys'],
  ['drivers'],
  ['rides'],
  ['webhooks'],
  ['outbound', 'usage'],
  ['fares', 'retention'],
  ['process'],
];

/** Files that do no I/O, and that must not load files or packages which do. */
const pureFiles = [
  ...['call-url', 'e164', 'errors', 'great-circle', 'ids', 'shown-text', 'terms'].map(
    (name) => `shared/base/${name}.ts`,
  ),
  ...[
    ...['ride-types', 'fields', 'transitions', 'decide', 'events', 'event-schemas', 'offers', 'position'],
    ...['public-schemas', 'simulation'],
  ].map((name) => `shared/rides/${name}.ts`),
  'shared/rides/search-terms.ts',
  'shared/rides/message-fields.ts',
  ...['message-kinds', 'texts'].map((name) => `shared/messages/${name}.ts`),
  'shared/drivers/cells.ts',
  'shared/keys/key-format.ts',
  'shared/targets/target.ts',
  'shared/webhooks/sign.ts',
  'shared/webhooks/failure-reasons.ts',
];
const purePackages =
  /^(node:crypto|node:zlib|intl-messageformat|@turf\/.+|ipaddr\.js|any-ascii|libphonenumber-js\/(max|min))$/;

/** Every import that breaks a rule, as `FILE imports FILE: RULE`, and every missing pure file. */
export function wrongImports(imports: Imports): string[] {
  const wrong: string[] = [];
  for (const [file, found] of imports) {
    for (const each of found) {
      const rule = brokenRule(file, each, imports);
      if (rule) wrong.push(`${file} imports ${each.to}: ${rule}`);
    }
  }
  for (const file of pureFiles) {
    if (!imports.has(file)) wrong.push(`${file} is in pureFiles, but does not exist`);
    for (const impure of impureImports(file, imports)) wrong.push(`${file} loads ${impure}, but must be pure`);
  }
  return wrong;
}

function brokenRule(file: string, each: Import, imports: Imports): string | undefined {
  const { to } = each;
  const [layer = '', folder = ''] = file.split('/');
  const [toLayer = '', toFolder = ''] = to.split('/');
  const isProduct = layer !== 'dev' && layer !== 'test';
  if (imports.has(to)) {
    const allowed = allowedLayers[layer] ?? [];
    if (!allowed.includes(toLayer)) return `${layer} may only import ${allowed.join(' and ')}`;
    if (layer === 'api' && toLayer === 'web' && !importsWeb.test(file) && to !== described)
      return 'only app.ts puts pages into the API';
    if (isOfOtherPage(file, to, imports)) return 'a page must not import a file of another page';
    const isUpward = layer === 'shared' && folder !== toFolder && !(rankOf(toFolder) < rankOf(folder));
    return isUpward ? 'imports in shared must go to a lower level' : undefined;
  }
  if (isProduct && layer !== 'api' && /^(koa|koa-.+|@koa\/.+)$/.test(to)) return 'only api may use Koa';
  if (isProduct && folder !== 'operators' && /^@bull-board\//.test(to)) return 'only the queue board may use it';
  if (/^nodemailer/.test(to) && isProduct && !mayUseMail.includes(file)) return 'only one file sends mail';
  if (isProduct && opensConnections(each) && !mayOpenConnections(file)) return 'this folder must not open connections';
  return undefined;
}

/**
 * The files of api/ that may import pages: `app.ts` puts them into the API, `web-part.ts` needs the types of requests and
 * answers, and `dashboard/` adds the session. Everything may use the types of answers.
 */
const importsWeb = /^api\/(app|web-part)\.ts$|^api\/dashboard\//;
const described = 'web/kit/answer.ts';

const pageList = 'web/dashboard/pages.ts';

/** True if `to` is a page of the list, or the view of one, and `file` is another. What pages share is in other files. */
function isOfOtherPage(file: string, to: string, imports: Imports): boolean {
  const page = to.replace(/-view\.tsx$/, '.tsx');
  const isPage = /^web\/(?!kit\/)/.test(page) && imports.get(pageList)?.some((listed) => listed.to === page);
  return file.startsWith('web/') && file !== pageList && file !== page && isPage === true;
}

/** The second file only checks the connection to the mail server. */
const mayUseMail = ['workers/mail-transport.ts', 'shared/process/ops/doctor/check-network.ts'];

/** The level of a folder. An unlisted folder has NaN, which is neither below nor above any other level. */
function rankOf(folder: string): number {
  const rank = foldersOfShared.findIndex((folders) => folders.includes(folder));
  return rank === -1 ? Number.NaN : rank;
}

const isErased = ({ names }: Pick<Import, 'names'>): boolean => /^\s*type\b/.test(names);

function opensConnections({ to, names }: Import): boolean {
  if (isErased({ names })) return false;
  if (to !== 'node:net') return /^(node:(https?|http2|tls|dgram)|undici)$/.test(to);
  return (names.match(/\w+/g) ?? []).some((name) => !/^(isIP|isIPv6)$/.test(name));
}

/** True for the only files that may open connections or listen: outbound requests, the API's server, the ops server. */
const mayOpenConnections = (file: string): boolean =>
  ['shared/outbound/', 'api/http/', 'shared/process/ops/'].some((folder) => file.startsWith(folder));

/**
 * The packages that a file loads, directly or through other files, and that are not pure. Type imports load nothing.
 */
function impureImports(file: string, imports: Imports): string[] {
  const loaded = new Set([file]);
  for (const each of loaded) {
    for (const found of imports.get(each) ?? []) if (!isErased(found)) loaded.add(found.to);
  }
  return [...loaded].filter((each) => !imports.has(each) && each !== file && !purePackages.test(each));
}

/**
 * The import cycles between files and, in the code of the product, also between the entries of a folder (its files and
 * subfolders). Each cycle is a list of files or entries that reach each other.
 */
export function findCycles(imports: Imports): { ofFiles: string[][]; ofEntries: string[][] } {
  const edges = [...imports].flatMap(([file, found]) =>
    found.flatMap(({ to }) => (imports.has(to) && to !== file ? [[file, to] as const] : [])),
  );
  const ofProduct = edges.filter(([file]) => !/^(dev|test)\//.test(file));
  return { ofFiles: cyclesIn(edges), ofEntries: cyclesIn(ofProduct.map(entriesOf)) };
}

/** The two entries of an import, in the smallest folder that contains both files. */
function entriesOf([file, to]: readonly [string, string]): [string, string] {
  const [from, other] = [file.split('/'), to.split('/')];
  const depth = from.findIndex((name, index) => name !== other[index]) + 1;
  return [from.slice(0, depth).join('/'), other.slice(0, depth).join('/')];
}

function cyclesIn(edges: readonly (readonly [string, string])[]): string[][] {
  const next = new Map<string, string[]>();
  for (const [from, to] of edges) next.set(from, [...(next.get(from) ?? []), to]);
  const reach = (start: string) => {
    const reached = new Set<string>(next.get(start));
    for (const each of reached) for (const other of next.get(each) ?? []) reached.add(other);
    return reached;
  };
  const reached = new Map([...next.keys()].map((start) => [start, reach(start)]));
  const inCycles = [...reached]
    .filter(([start, all]) => all.has(start))
    .map(([start]) => start)
    .sort();
  const groups = inCycles.map((one) =>
    inCycles.filter((other) => reached.get(one)?.has(other) && reached.get(other)?.has(one)),
  );
  return groups.filter(([first], index) => inCycles[index] === first);
}
