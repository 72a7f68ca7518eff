import { existsSync, realpathSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { runtimeMounts } from '@sallyport/sandbox';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { codeRoots, isBaseSystem } from '../stdio/program.ts';
import { npmRegistries } from './npm-registries.ts';
import type { InstalledContent } from './package-folders.ts';
import { type InstallWork, runInstaller } from './run-installer.ts';

/** Inside the folder being filled, since scratch space is small; removed afterwards. */
const CACHE = '.npm-cache';

/**
 * Installs an npm package with the user's own npm, without running its scripts. The lock file names every part by
 * version and integrity.
 * @throws E3801 when there is no npm, it cannot get the package, or a part has no integrity
 */
export async function installNpmPackage(work: InstallWork): Promise<InstalledContent> {
  const { environment, staging, wanted } = work;
  const node = realpathSync(process.execPath);
  const npm = findNpm(environment['PATH'] ?? process.env['PATH'] ?? '', node);
  const { settings, userFile, network } = npmRegistries(environment, npm);
  const certificates = environment['NODE_EXTRA_CA_CERTS'];
  const files = [userFile, certificates].filter((file) => file !== undefined && existsSync(file)) as string[];
  const options = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  await runInstaller(work, {
    command: [
      node,
      ...[npm, 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--save-exact'],
      ...[
        '--no-workspaces',
        '--omit=dev',
        '--replace-registry-host=always',
        '--fetch-retries=1',
        '--fetch-retry-mintimeout=500',
        '--loglevel=error',
        ...options,
      ],
      ...['--', wanted.spec],
    ],
    environment: {
      PATH: dirname(node),
      HOME: '/tmp',
      npm_config_cache: join(staging, CACHE),
      npm_config_prefix: staging,
      ...(userFile === undefined ? {} : { npm_config_userconfig: userFile }),
      ...(certificates === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificates }),
    },
    shown: [
      ...runtimeMounts([node]).map(({ path }) => path),
      ...codeRoots(npm, homedir()),
      ...files.map((file) => realpathSync(file)).filter((file) => !isBaseSystem(file)),
    ],
    network,
  });
  await rm(join(staging, CACHE), { recursive: true, force: true });
  return contentOf(await readFile(join(staging, 'package-lock.json'), 'utf8'), wanted.name);
}

/** The npm that belongs to the layer's Node, else the one on the user's PATH. */
function findNpm(searchPath: string, node: string): string {
  const beside = join(dirname(dirname(node)), 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js');
  const onPath = searchPath.split(delimiter).map((folder) => join(folder, 'npm'));
  for (const candidate of [beside, ...onPath]) {
    if (existsSync(candidate) && realpathSync(candidate).endsWith('npm-cli.js')) return realpathSync(candidate);
  }
  throw new ToolLayerError('E3801', 'npm was not found on this machine. Install it, or install the package yourself.');
}

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
}

/** @throws E3801 for a part whose content nothing proves to be as published */
function contentOf(text: string, name: string): InstalledContent {
  const { packages = {} } = JSON.parse(text) as { packages?: Readonly<Record<string, LockedPackage>> };
  const parts = Object.entries(packages).filter(([path]) => path !== '');
  const loose = parts.find(([, part]) => part.integrity === undefined);
  if (loose !== undefined) {
    throw new ToolLayerError(
      'E3801',
      `The package '${name}' was not installed: its part ${loose[0]} comes without an integrity, so it cannot be pinned.`,
    );
  }
  const version = packages[`node_modules/${name}`]?.version;
  if (version === undefined) throw new ToolLayerError('E3801', `npm installed no package that is named '${name}'.`);
  const lines = parts.map(([path, part]) => `${path} ${part.version ?? ''} ${part.integrity}`);
  return { version, lock: lines.sort().join('\n') };
}
