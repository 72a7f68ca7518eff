import type { SandboxDriver } from '@sallyport/sandbox';
import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { FilesystemPermission, NetworkPermission } from '../../../api/schemas/tool-manifest.ts';
import { keepTail } from '../stdio/stderr-tail.ts';
import type { WantedPackage } from './wanted-package.ts';

/** Inputs of one installation. */
export interface InstallWork {
  readonly driver: SandboxDriver;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Empty folder, real path: the only folder that the installer writes to. */
  readonly staging: string;
  readonly wanted: WantedPackage;
}

/** Command line of a package manager, with what it needs to see and reach. */
export interface InstallerCommand {
  readonly command: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  /** Read-only paths beside the staging folder. */
  readonly shown: readonly string[];
  /** Hosts and ports of the registries. */
  readonly network: readonly NetworkPermission[];
}

/** Longest installation. */
const INSTALL_TIMEOUT_MS = 300_000;
const OUTPUT_BYTES_KEPT = 8 * KiB;
const SAID_CHARS_MAX = 1_000;
const LIMITS = { cpuMillicores: 2000, memoryMb: 1024, processesMax: 128, diskMb: 512 } as const;

/**
 * Runs a package manager in a sandbox that sees only the manager, the folder to fill and the registry.
 * @throws E3801 when it fails, with its output; what the driver throws
 */
export async function runInstaller(work: InstallWork, installer: InstallerCommand): Promise<void> {
  const { driver, staging, wanted } = work;
  const mounts: FilesystemPermission[] = [
    ...[...new Set(installer.shown)].map((path) => ({ path, mode: 'ro' as const })),
    { path: staging, mode: 'rw' },
  ];
  await using process = await driver.start({
    label: `install ${wanted.spec}`,
    command: installer.command,
    environment: installer.environment,
    workingDirectory: staging,
    mounts,
    network: installer.network,
    limits: LIMITS,
  });
  process.stdin.end();
  const [out, err] = [keepTail(process.stdout, OUTPUT_BYTES_KEPT), keepTail(process.stderr, OUTPUT_BYTES_KEPT)];
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    process.kill();
  }, INSTALL_TIMEOUT_MS);
  const exit = await process.exited.finally(() => clearTimeout(timer));
  for (const tail of [out, err]) tail.stop();
  if (exit.code === 0) return;
  const said = `${err.text()}\n${out.text()}`.trim().slice(-SAID_CHARS_MAX);
  const why = isLate ? `It took longer than ${INSTALL_TIMEOUT_MS / 1_000} s.` : said;
  const hosts = installer.network.map(({ host, port }) => `${host}:${port}`).join(', ');
  throw new ToolLayerError(
    'E3801',
    `The package '${wanted.spec}' was not installed. It was looked for at ${hosts}. ${why}`,
  );
}
