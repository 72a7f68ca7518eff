import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { NetworkPermission } from '../../../api/schemas/tool-manifest.ts';
import { isBaseSystem } from '../stdio/program.ts';
import type { InstalledContent } from './package-folders.ts';
import { findPython, SITE } from './python-program.ts';
import { type InstallWork, runInstaller } from './run-installer.ts';

/** pip's index when the user has named no other; its files are on a separate host. */
const PUBLIC_INDEX = 'https://pypi.org/simple/';
const PUBLIC_FILES: NetworkPermission = { host: 'files.pythonhosted.org', port: 443 };
const REPORT = 'report.json';

/**
 * Installs a Python package with pip, as built wheels only, so that none of its code runs. pip's report names every
 * part by version and SHA-256.
 * @throws E3801 when there is no Python with pip, it cannot get the package, or a part has no hash
 */
export async function installPythonPackage(work: InstallWork): Promise<InstalledContent> {
  const { environment, staging, wanted } = work;
  const { program, shown } = findPython(environment['PATH'] ?? process.env['PATH'] ?? '');
  const index = indexOf(environment);
  const url = URL.parse(index);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ToolLayerError(
      'E3801',
      "pip's setting index-url is no http or https address. Correct it in your pip.conf.",
    );
  }
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const own = { host: url.hostname.replace(/^\[|\]$/g, ''), port };
  const certificates = environment['PIP_CERT'];
  await runInstaller(work, {
    command: [
      ...([program, '-m', 'pip', 'install', '--no-input', '--disable-pip-version-check', '--no-cache-dir'] as const),
      ...['--only-binary', ':all:', '--quiet', '--target', join(staging, SITE), '--report', join(staging, REPORT)],
      ...['--', wanted.spec],
    ],
    environment: {
      PATH: '/usr/bin:/bin',
      HOME: '/tmp',
      // In the environment, not the arguments: an address may hold a credential.
      PIP_INDEX_URL: index,
      ...(certificates === undefined ? {} : { PIP_CERT: certificates }),
    },
    shown: [
      ...shown,
      ...[certificates].flatMap((file) => (file !== undefined && existsSync(file) ? [realpathSync(file)] : [])),
    ].filter((path) => !isBaseSystem(path)),
    network: index === PUBLIC_INDEX ? [own, PUBLIC_FILES] : [own],
  });
  return contentOf(await readFile(join(staging, REPORT), 'utf8'), wanted.name);
}

/** In pip's order: environment, user's file, machine's file. */
function indexOf(environment: InstallWork['environment']): string {
  const home = environment['HOME'] ?? homedir();
  const files = [join(home, '.config', 'pip', 'pip.conf'), join(home, '.pip', 'pip.conf'), '/etc/pip.conf'];
  const inFiles = files
    .filter((file) => existsSync(file))
    .map((file) => /^\s*index-url\s*[=:]\s*(\S+)\s*$/m.exec(readFileSync(file, 'utf8'))?.[1]);
  return environment['PIP_INDEX_URL'] ?? inFiles.find((found) => found !== undefined) ?? PUBLIC_INDEX;
}

interface Reported {
  readonly metadata: { readonly name: string; readonly version: string };
  readonly download_info: { readonly archive_info?: { readonly hashes?: { readonly sha256?: string } } };
}

/** @throws E3801 for a part whose content nothing proves to be as published */
function contentOf(text: string, name: string): InstalledContent {
  const { install } = JSON.parse(text) as { install: readonly Reported[] };
  const parts = install.map(({ metadata, download_info }) => ({
    ...metadata,
    sha256: download_info.archive_info?.hashes?.sha256,
  }));
  const loose = parts.find(({ sha256 }) => sha256 === undefined);
  if (loose !== undefined) {
    throw new ToolLayerError(
      'E3801',
      `The package '${name}' was not installed: its part ${loose.name} comes without a SHA-256, so it cannot be pinned.`,
    );
  }
  const plain = (text: string): string => text.toLowerCase().replace(/[-_.]+/g, '-');
  const version = parts.find((part) => plain(part.name) === plain(name))?.version;
  if (version === undefined) throw new ToolLayerError('E3801', `pip installed no package that is named '${name}'.`);
  const lines = parts.map((part) => `${plain(part.name)} ${part.version} sha256:${part.sha256}`);
  return { version, lock: lines.sort().join('\n') };
}
