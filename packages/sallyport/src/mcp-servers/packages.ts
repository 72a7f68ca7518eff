import type { SandboxDriver } from '@sallyport/sandbox';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { InstalledPackage, StdioTransport } from '../../api/schemas/upstream.ts';
import { createTurns } from './pacing/turns.ts';
import { installNpmPackage } from './packages/install-npm.ts';
import { installPythonPackage } from './packages/install-python.ts';
import { createPackageFolders } from './packages/package-folders.ts';
import { pythonRequest } from './packages/python-request.ts';
import type { WantedPackage } from './packages/wanted-package.ts';
import { findInstalled, npxRequest } from './stdio/npx.ts';

export type { WantedPackage };

/** Packages that upstreams run, in the layer's own folder. */
export interface Packages {
  /**
   * What has to be installed before a command can start: the package that `npx`, `uvx` and the like would download.
   * Undefined when nothing has to be: another command, or a package that the user of this machine has installed.
   * @throws E3801 for a command that names no package of a registry
   */
  wanted(transport: StdioTransport): WantedPackage | undefined;
  /** What an earlier installation of the same spec left. */
  known(wanted: WantedPackage): InstalledPackage | undefined;
  /**
   * Downloads a package with all that it needs, in a sandbox that reaches the registry alone, and keeps it. None of its code
   * runs meanwhile. The same spec again answers with what is there already.
   * @throws E3801 when the package manager is not there, or does not get it, saying why
   */
  install(wanted: WantedPackage): Promise<InstalledPackage>;
  /** The folder of an installed package. @throws E3801 when it is not there */
  folderOf(installed: InstalledPackage): string;
}

/** What installs packages. */
export interface PackagesParts {
  readonly driver: SandboxDriver;
  /** Absolute; made when the first package is installed. */
  readonly folder: string;
  /** Variables that the user gave to npm and pip are among them. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Nothing is looked at before it is asked for. */
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
