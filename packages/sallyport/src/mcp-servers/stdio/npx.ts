import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { satisfies, validRange } from 'semver';

/** Most cached npx folders that are searched. */
const CACHE_FOLDERS_MAX = 1_000;
const RUNNERS = new Set(['npx', 'bunx', 'pnpx']);
/** Programs that run a package through a subcommand. */
const RUNNER_WORDS: Readonly<Record<string, ReadonlySet<string>>> = {
  npm: new Set(['exec', 'x']),
  pnpm: new Set(['dlx']),
  yarn: new Set(['dlx']),
  bun: new Set(['x']),
};
/** Versions, ranges and tags; a spec that names another place than the registry does not match. */
const WANTED = /^[\w.~^<>=|* +-]+$/;
const PACKAGE = /^(@[a-z0-9~][a-z0-9._~-]*\/)?[A-Za-z0-9~][A-Za-z0-9._~-]*$/;

/** The request in an `npx` command line. */
export interface NpxRequest {
  readonly packageName: string;
  /** Version, range or tag after the `@`; absent when none was given. */
  readonly wanted?: string;
  /** Program of the package, when `--package` names the package separately. */
  readonly bin?: string;
  readonly args: readonly string[];
}

/**
 * Reads the command line of a package runner; undefined when the command is none.
 * @throws E3801 when it names no package
 */
export function npxRequest(command: string, args: readonly string[]): NpxRequest | undefined {
  const runner = command.slice(command.lastIndexOf('/') + 1);
  const skipped = RUNNERS.has(runner) ? 0 : RUNNER_WORDS[runner]?.has(args[0] ?? '') === true ? 1 : undefined;
  if (skipped === undefined) return undefined;
  let apart: string | undefined;
  for (let at = skipped; at < args.length; at += 1) {
    const arg = args[at] as string;
    if (arg === '--package' || arg === '-p') {
      at += 1;
      apart = args[at];
    } else if (arg.startsWith('--package=')) apart = arg.slice('--package='.length);
    else if (!arg.startsWith('-')) {
      const rest = args.slice(at + 1);
      return apart === undefined ? { ...splitSpec(arg), args: rest } : { ...splitSpec(apart), bin: arg, args: rest };
    }
  }
  throw new ToolLayerError('E3801', `'${command}' was given no package. Write: ${command} -y PACKAGE [ARGUMENTS].`);
}

function splitSpec(spec: string): Pick<NpxRequest, 'packageName' | 'wanted'> {
  const at = spec.indexOf('@', 1);
  const packageName = at === -1 ? spec : spec.slice(0, at);
  if (!PACKAGE.test(packageName) || (at !== -1 && !WANTED.test(spec.slice(at + 1)))) {
    throw new ToolLayerError(
      'E3801',
      `'${spec}' is not the name of an npm package. Install it and give the path of its program.`,
    );
  }
  return at === -1 ? { packageName } : { packageName, wanted: spec.slice(at + 1) };
}

/**
 * Finds the installed package of an `npx` command: in the `node_modules` of the given folders and their parents, among
 * the global packages, and in npx's own cache. Gives the absolute path of its program's script.
 * @throws E3801 when it is not installed in a fitting version, with what to type
 */
export function findInstalled(
  request: NpxRequest,
  startFolders: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const { packageName, wanted } = request;
  const versions: string[] = [];
  for (const modules of moduleFolders(startFolders, environment)) {
    const folder = join(modules, packageName);
    const manifest = readManifest(join(folder, 'package.json'));
    if (manifest === undefined) continue;
    if (!fits(manifest.version, wanted)) versions.push(manifest.version);
    else return scriptOf(folder, manifest, request);
  }
  const spec = wanted === undefined ? packageName : `${packageName}@${wanted}`;
  const found =
    versions.length === 0 ? 'is not installed' : `is installed only as ${[...new Set(versions)].join(', ')}`;
  throw new ToolLayerError(
    'E3801',
    `The npm package '${spec}' ${found}, and a sandbox has no network to download it. Add the upstream again with --yes, so that it is installed, or type: npm install --global ${spec}`,
    { details: { not_installed: true } },
  );
}

/**
 * The program of a package in one folder.
 * @throws E3801 when it is not there
 */
export function installedScript(folder: string, request: NpxRequest): string {
  const path = join(folder, 'node_modules', request.packageName);
  const manifest = readManifest(join(path, 'package.json'));
  if (manifest !== undefined) return scriptOf(path, manifest, request);
  throw new ToolLayerError(
    'E3801',
    `The npm package '${request.packageName}' is not what was installed for this upstream.`,
  );
}

interface PackageManifest {
  readonly version: string;
  readonly bin: unknown;
}

function readManifest(path: string): PackageManifest | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const { version, bin } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    return { version: typeof version === 'string' ? version : '0.0.0', bin };
  } catch {
    return undefined;
  }
}

/** A tag such as `latest` cannot be resolved without a registry; the installed version counts as it. */
function fits(version: string, wanted: string | undefined): boolean {
  if (wanted === undefined || validRange(wanted) === null) return true;
  return satisfies(version, wanted, { includePrerelease: true });
}

/** npx's rule: the program named like the package, else the only one. */
function scriptOf(folder: string, { bin }: PackageManifest, { packageName, bin: asked }: NpxRequest): string {
  const unscoped = packageName.slice(packageName.indexOf('/') + 1);
  const bins = new Map<string, unknown>(
    typeof bin === 'string' ? [[unscoped, bin]] : Object.entries(typeof bin === 'object' && bin !== null ? bin : {}),
  );
  const name = asked ?? (bins.has(unscoped) || bins.size !== 1 ? unscoped : ([...bins.keys()][0] as string));
  const script = bins.get(name);
  const path = typeof script === 'string' ? join(folder, script) : undefined;
  if (path === undefined || !existsSync(path)) {
    throw new ToolLayerError(
      'E3801',
      `The npm package '${packageName}' has no program '${name}'. Its programs: ${[...bins.keys()].join(', ') || 'none'}.`,
    );
  }
  return path;
}

/**
 * `node_modules` folders of packages that the user of the layer has installed; an upstream's definition cannot add any.
 */
export function installedModules(): ReadonlySet<string> {
  return new Set(moduleFolders([import.meta.dirname], process.env));
}

function* moduleFolders(
  startFolders: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Generator<string> {
  for (const start of startFolders) {
    for (let folder = start; ; folder = dirname(folder)) {
      yield join(folder, 'node_modules');
      if (folder === dirname(folder)) break;
    }
  }
  const prefix = environment['npm_config_prefix'] ?? environment['PREFIX'];
  const ownPrefix = dirname(dirname(realpathSync(process.execPath)));
  for (const root of [prefix, ownPrefix, '/usr/local', '/usr']) {
    if (root !== undefined && isAbsolute(root)) yield join(root, 'lib', 'node_modules');
  }
  const cache = environment['npm_config_cache'] ?? join(environment['HOME'] ?? homedir(), '.npm');
  const npxCache = join(cache, '_npx');
  if (!existsSync(npxCache)) return;
  for (const entry of readdirSync(npxCache).slice(0, CACHE_FOLDERS_MAX)) yield join(npxCache, entry, 'node_modules');
}
