import fs from 'node:fs';
import path from 'node:path';

/** One import, also of types, also a dynamic one. */
export interface Import {
  /** A source file, as a path from the root of the project, or a package. */
  to: string;
  /** The text between `import` and `from`. */
  names: string;
}

/** The imports of each source file, by its path from the root of the project. */
export type Imports = ReadonlyMap<string, readonly Import[]>;

const root = path.resolve(import.meta.dirname, '../..');
const floors = ['api', 'workers', 'shared', 'cli', 'dev', 'test'];

export function readImports(): Imports {
  const files = floors.flatMap((floor) =>
    fs
      .readdirSync(path.join(root, floor), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => path.join(floor, file)),
  );
  return new Map(files.map((file) => [file, importsIn(file, fs.readFileSync(path.join(root, file), 'utf8'))]));
}

const statements =
  /^(?:import|export)\b([^;']*?)\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)|\brequire\w*\('([^']+)'\)/gm;

/** The imports that a file with this source has. */
export const importsIn = (file: string, source: string): Import[] =>
  [...source.matchAll(statements)].map(([, names = '', ...found]) => {
    const name = found.find(Boolean) ?? '';
    return { to: name.startsWith('.') ? path.join(path.dirname(file), name) : name, names };
  });

/** The code of each floor may import that of these. */
const floorsBelow: Record<string, string[]> = {
  api: ['api', 'shared'],
  workers: ['workers', 'shared'],
  cli: ['cli', 'shared'],
  shared: ['shared'],
  dev: ['api', 'workers', 'cli', 'shared', 'dev'],
  test: floors,
};

/** The folders of shared/, from the lowest to the highest. Those of one line do not import each other. */
const foldersOfShared = [
  ['base'],
  ['accounts', 'mail', 'targets'],
  ['keys'],
  ['drivers'],
  ['rides'],
  ['webhooks'],
  ['usage'],
  ['fares', 'retention'],
  ['process'],
];

/** These decide and do no I/O. So neither does what they load. */
const pureFiles = [
  ...['errors', 'great-circle', 'ids', 'terms'].map((name) => `shared/base/${name}.ts`),
  ...['ride-types', 'transitions', 'decide', 'events', 'offers', 'position', 'public-schemas', 'simulation'].map(
    (name) => `shared/rides/${name}.ts`,
  ),
  'shared/drivers/cells.ts',
  'shared/keys/key-format.ts',
  'shared/targets/target.ts',
  'shared/webhooks/sign.ts',
  'shared/webhooks/failure-reasons.ts',
];
const purePackages = /^(node:crypto|node:zlib|@turf\/.+|ipaddr\.js)$/;

/** Every import that breaks a rule, as `FILE imports FILE: RULE`, and every pure file that is not there. */
export function wrongImports(imports: Imports): string[] {
  const wrong: string[] = [];
  for (const [file, found] of imports) {
    for (const each of found) {
      const rule = brokenRule(file, each, imports);
      if (rule) wrong.push(`${file} imports ${each.to}: ${rule}`);
    }
  }
  for (const file of pureFiles) {
    if (!imports.has(file)) wrong.push(`${file} is not there: pureFiles names it`);
    for (const impure of impureImports(file, imports)) wrong.push(`${file} loads ${impure}: it is pure`);
  }
  return wrong;
}

function brokenRule(file: string, each: Import, imports: Imports): string | undefined {
  const { to } = each;
  const [floor = '', folder = ''] = file.split('/');
  const [floorOf = '', folderOf = ''] = to.split('/');
  const isProduct = floor !== 'dev' && floor !== 'test';
  if (imports.has(to)) {
    if (!floorsBelow[floor]?.includes(floorOf)) return `${floor} imports only ${floorsBelow[floor]?.join(' and ')}`;
    const isUpward = floor === 'shared' && folder !== folderOf && !(rankOf(folderOf) < rankOf(folder));
    return isUpward ? 'imports in shared go down' : undefined;
  }
  if (isProduct && floor !== 'api' && /^(koa|koa-.+|@koa\/.+|@bull-board\/.+)$/.test(to)) return 'Koa is only in api';
  if (/^nodemailer/.test(to) && isProduct && file !== 'workers/mail-transport.ts') return 'one file sends mail';
  if (isProduct && opensConnections(each) && !mayOpenConnections(file)) return 'one folder opens connections';
  return undefined;
}

/** NaN for a folder that is not listed, which is neither below nor above any other. */
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

/** The sender of webhooks, and the servers of the API and of each process's metrics. */
const mayOpenConnections = (file: string): boolean =>
  ['workers/webhooks/send/', 'api/http/', 'shared/process/ops/'].some((folder) => file.startsWith(folder));

/** The packages beyond the pure ones that a file loads, also through other files. Types load nothing. */
function impureImports(file: string, imports: Imports): string[] {
  const loaded = new Set([file]);
  for (const each of loaded) {
    for (const found of imports.get(each) ?? []) if (!isErased(found)) loaded.add(found.to);
  }
  return [...loaded].filter((each) => !imports.has(each) && each !== file && !purePackages.test(each));
}

/**
 * The circles among all files, and in the product among the rooms of each folder: its files, and its folders as wholes. A
 * circle is the list of those that reach one another.
 */
export function circles(imports: Imports): { ofFiles: string[][]; ofRooms: string[][] } {
  const edges = [...imports].flatMap(([file, found]) =>
    found.flatMap(({ to }) => (imports.has(to) && to !== file ? [[file, to] as const] : [])),
  );
  const ofProduct = edges.filter(([file]) => !/^(dev|test)\//.test(file));
  return { ofFiles: circlesIn(edges), ofRooms: circlesIn(ofProduct.map(roomsOf)) };
}

/** The rooms of an import, in the smallest folder that has both files. */
function roomsOf([file, to]: readonly [string, string]): [string, string] {
  const [from, other] = [file.split('/'), to.split('/')];
  const depth = from.findIndex((name, index) => name !== other[index]) + 1;
  return [from.slice(0, depth).join('/'), other.slice(0, depth).join('/')];
}

function circlesIn(edges: readonly (readonly [string, string])[]): string[][] {
  const next = new Map<string, string[]>();
  for (const [from, to] of edges) next.set(from, [...(next.get(from) ?? []), to]);
  const reach = (start: string) => {
    const reached = new Set<string>(next.get(start));
    for (const each of reached) for (const other of next.get(each) ?? []) reached.add(other);
    return reached;
  };
  const reached = new Map([...next.keys()].map((start) => [start, reach(start)]));
  const inCircles = [...reached]
    .filter(([start, all]) => all.has(start))
    .map(([start]) => start)
    .sort();
  const groups = inCircles.map((one) =>
    inCircles.filter((other) => reached.get(one)?.has(other) && reached.get(other)?.has(one)),
  );
  return groups.filter(([first], index) => inCircles[index] === first);
}
