import type { SandboxDriver } from '@sallyport/sandbox';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { InstalledPackage, StdioTransport } from '../../api/schemas/upstream.ts';
import { createTurns } from './connection/pacing/turns.ts';
import { installNpmPackage } from './packages/install-npm.ts';
import { installPythonPackage } from './packages/install-python.ts';
import { createPackageFolders } from './packages/package-folders.ts';
import { pythonRequest } from './packages/python-request.ts';
import type { WantedPackage } from './packages/wanted-package.ts';
import { findInstalled, npxRequest } from './stdio/npx.ts';

export type { WantedPackage };

/** Packages that upstreams run, kept in the layer's own folder. */
export interface Packages {
  /**
   * The package to install before a command can start: the one that `npx`, `uvx` and the like would download. Undefined
   * when none is needed: another command, or a package that the user of this machine has installed.
   * @throws E3801 for a command that names no package of a registry
   */
  wanted(transport: StdioTransport): WantedPackage | undefined;
  /** The result of an earlier installation of the same spec. */
  known(wanted: WantedPackage): InstalledPackage | undefined;
  /**
   * Downloads a package with its dependencies, in a sandbox that reaches only the registry, and keeps it. None of its
   * code runs meanwhile. Installing the same spec again returns the existing installation.
   * @throws E3801 when the package manager is missing or fails, saying why
   */
  install(wanted: WantedPackage): Promise<InstalledPackage>;
  /** The folder of an installed package. @throws E3801 when it is missing */
  folderOf(installed: InstalledPackage): string;
}

/** Dependencies of the packages. */
export interface PackagesParts {
  readonly driver: SandboxDriver;
  /** Absolute; created when the first package is installed. */
  readonly folder: string;
  /** Environment, including the user's variables for npm and pip. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Makes the packages; nothing is read before it is needed. */
export function createPackages({ driver, folder, environment }: PackagesParts): Packages {
  const folders = createPackageFolders(folder);
  const inTurn = createTurns();
  return {
    wanted: (transport) => npmWanted(transport) ?? pythonWanted(transport),
    known: folders.find,
    install: (wanted) =>
      inTurn(`${wanted.manager} ${wanted.spec}`, async () => {
        const known = folders.find(wanted);
        if (known !== undefined) return known;
        const work = wanted.manager === 'npm' ? installNpmPackage : installPythonPackage;
        return folders.add(wanted, (staging) => work({ driver, environment, staging, wanted }));
      }),
    folderOf: folders.folderOf,
  };
}

function npmWanted({ command, args = [], cwd, env = {} }: StdioTransport): WantedPackage | undefined {
  const request = npxRequest(command, args);
  if (request === undefined) return undefined;
  const start = cwd === undefined ? [import.meta.dirname] : [cwd, import.meta.dirname];
  try {
    findInstalled(request, start, { ...process.env, ...env });
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof ToolLayerError) || thrown.failure.details?.['not_installed'] !== true) throw thrown;
  }
  const { packageName: name, wanted } = request;
  return { manager: 'npm', name, spec: wanted === undefined ? name : `${name}@${wanted}` };
}

function pythonWanted({ command, args = [] }: StdioTransport): WantedPackage | undefined {
  const request = pythonRequest(command, args);
  return request === undefined ? undefined : { manager: 'pip', name: request.packageName, spec: request.spec };
}
