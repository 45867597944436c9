import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { operations } from '../api/operations.ts';
import { sha256 } from '../shared/base/ids.ts';
import { documentation } from '../web/docs/documentation.ts';
import { exampleBaseUrl } from '../web/docs/example-base-url.ts';
import { searchIndex } from '../web/docs/search-index.ts';
import { assetFolder, listenName, manifestName } from '../web/kit/assets.ts';

const root = path.join(import.meta.dirname, '..');
const brotli = promisify(zlib.brotliCompress);
const gzip = promisify(zlib.gzip);

/** Resolves Leaflet to its ES module build, because only that build can be tree-shaken. */
const leafletAsModule: Plugin = {
  name: 'leaflet as a module',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^leaflet$/ }, () => ({
      path: createRequire(import.meta.url).resolve('leaflet/dist/leaflet-src.esm.js'),
    })),
};

/**
 * Bundles the stylesheet, the browser scripts and the search index of the documentation into a folder, with a manifest
 * and compressed copies, and `listen.mjs`. Each other file name contains a hash of the content. Scripts are the files of `web/` whose names end in
 * `.browser.ts`, and those in a folder `browser/` of a part whose names end in `-page.ts`.
 */
export async function buildAssets(folder = assetFolder): Promise<void> {
  const { outputFiles, metafile } = await build({
    entryPoints: [
      { in: path.join(root, 'web/kit/styles/styles.css'), out: 'styles' },
      { in: path.join(root, 'web/kit/icon.svg'), out: 'icon' },
      ...(await pageScripts()),
    ],
    outdir: folder,
    entryNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    plugins: [leafletAsModule],
    // Leaflet's stylesheet refers to images of controls that our pages do not use.
    loader: { '.png': 'empty', '.svg': 'copy' },
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  await mkdir(folder, { recursive: true });
  await buildListen(folder);
  const index = indexFile();
  for (const { path: file, contents } of [...outputFiles, { ...index, path: path.join(folder, index.name) }]) {
    await writeFile(file, contents);
    await writeFile(`${file}.br`, await brotli(contents));
    await writeFile(`${file}.gz`, await gzip(contents, { level: 9 }));
  }
  const entries = Object.entries(metafile.outputs).flatMap(([file, { entryPoint }]) =>
    entryPoint ? [[path.basename(entryPoint).replace(/\.ts$/, '.js'), path.basename(file)]] : [],
  );
  await writeManifest(folder, { ...Object.fromEntries(entries), 'search.json': index.name });
}

/** Bundles `npm run listen` into one file for Node, not minified, so that partners can read what they run. */
async function buildListen(folder: string): Promise<void> {
  const { outputFiles } = await build({
    // The file has comments with the paths of its parts.
    absWorkingDir: root,
    entryPoints: [path.join(root, 'dev/listen/listen-anywhere.ts')],
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Commander is a CommonJS package.
    banner: { js: "import { createRequire as from } from 'node:module';\nconst require = from(import.meta.url);" },
    // Its licence asks for the notice in each copy.
    footer: { js: `/* commander:\n${await readFile(path.join(root, 'node_modules/commander/LICENSE'), 'utf8')}*/` },
    write: false,
    logLevel: 'warning',
  });
  for (const { contents } of outputFiles) await replaceFile(path.join(folder, listenName), contents);
}

/** Replaces a file atomically, because other processes may read it at that time. */
async function replaceFile(file: string, contents: string | Uint8Array): Promise<void> {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, contents);
  await rename(draft, file);
}

/** The search index names only sections and paths, so it depends neither on the service's address nor on a built file. */
function indexFile(): { name: string; contents: Buffer } {
  const index = searchIndex(documentation(operations, { publicBaseUrl: exampleBaseUrl }, () => '').pages);
  return { name: `search-${sha256(index).slice(0, 8).toUpperCase()}.json`, contents: Buffer.from(index) };
}

/** Removes old files only after the manifest is replaced: a process that starts at that time needs them. */
async function writeManifest(folder: string, manifest: Record<string, string>): Promise<void> {
  await replaceFile(path.join(folder, manifestName), JSON.stringify(manifest));
  const current = new Set(Object.values(manifest));
  const old = (await readdir(folder)).filter(
    (name) => !current.has(name.replace(/\.(br|gz)$/, '')) && /-[0-9A-Z]{8}\./.test(name),
  );
  await Promise.all(old.map((name) => rm(path.join(folder, name), { force: true })));
}

async function pageScripts(): Promise<{ in: string; out: string }[]> {
  return (await readdir(path.join(root, 'web'), { recursive: true }))
    .filter((file) => /^[^/]+\/browser\/[^/]+-page\.ts$|\.browser\.ts$/.test(file))
    .map((file) => ({ in: path.join(root, 'web', file), out: path.basename(file, '.ts') }));
}

if (import.meta.filename === process.argv[1]) void buildAssets(process.argv[2] && path.resolve(process.argv[2]));
