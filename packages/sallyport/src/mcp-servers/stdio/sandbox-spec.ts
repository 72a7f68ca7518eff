import { existsSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, resolve } from 'node:path';
import { runtimeMounts, type SandboxSpec } from '@sallyport/sandbox';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { AccessMode, FilesystemPermission } from '../../../api/schemas/tool-manifest.ts';
import type { StdioTransport } from '../../../api/schemas/upstream.ts';
import { findPython, pythonCommand, SITE } from '../packages/python-program.ts';
import { pythonRequest } from '../packages/python-request.ts';
import type { Packages } from '../packages.ts';
import { findInstalled, installedModules, installedScript, npxRequest } from './npx.ts';
import { codeRoots, findProgram, isBaseSystem } from './program.ts';

/** Limits of one stdio upstream, unless its definition sets them. */
export const UPSTREAM_LIMITS = {
  memoryMb: 512,
  cpuMillicores: 1000,
  /** Threads count too, and Node starts about a dozen. */
  processesMax: 128,
  /** Scratch space in /tmp. */
  diskMb: 256,
} as const;

/** Folders of the packages that the layer installed. */
export type InstalledFolders = Pick<Packages, 'folderOf'>;

/** Refuses paths that a server would see read-only. @throws ToolLayerError */
export type CheckShown = (paths: readonly string[]) => void;

const INTERPRETER = /^(?:node|nodejs|bun|deno|python[0-9.]*|ruby|perl)$/;

/** True when a program runs the script in its first argument: the script's surroundings are visible without a mount. */
export const isInterpreter = (program: string): boolean => INTERPRETER.test(basename(program));
const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';

/**
 * The sandbox of a stdio upstream: its program and the code it starts, its folder read-only, its mounts, its network,
 * and nothing else of this machine.
 * @param environment the definition's `env` with secrets filled in
 * @param checkShown called with the paths shown beside the mounts (the definition's program, code and folder); throws
 *   to refuse them
 * @throws E3801 when program, package or folder does not exist; E3105 when a mount does not
 */
export function sandboxSpecOf(
  label: string,
  transport: StdioTransport,
  environment: Readonly<Record<string, string>>,
  checkShown: CheckShown,
  packages: InstalledFolders,
): SandboxSpec {
  const { cwd } = transport;
  if (cwd !== undefined) checkFolder(cwd);
  const node = realpathSync(process.execPath);
  const home = homedir();
  const installed = installedCommand(transport, packages);
  const command = installed?.command ?? commandOf(transport, environment);

  const visible = new Map<string, AccessMode>();
  const show = (paths: readonly string[], mode: AccessMode): void => {
    for (const path of paths) visible.set(path, mode);
  };
  // Programs of packages begin with "env node", so every server sees Node.
  for (const program of isNode(command[0]) ? [node, command[0]] : [node]) {
    show(
      runtimeMounts([program]).map(({ path }) => path),
      'ro',
    );
  }
  const code = installed?.shown ?? codeOf(command, cwd).flatMap((path) => codeRoots(path, home));
  const folder = cwd === undefined || isBaseSystem(cwd) ? [] : [cwd];
  const modules = installedModules();
  // A Python that the layer found by itself is a program of the machine, like Node.
  checkShown([...(installed === undefined ? code.filter((path) => !modules.has(path)) : []), ...folder]);
  show([...code, ...folder], 'ro');
  for (const { path, mode } of transport.mounts ?? []) show([checkMount(path)], mode);

  return {
    label,
    command,
    environment: {
      ...{ PATH: `${dirname(node)}:${SYSTEM_PATH}`, HOME: '/tmp', LANG: 'C.UTF-8' },
      ...environment,
      ...installed?.environment,
    },
    ...(installed === undefined ? {} : { own: [installed.folder] }),
    ...(cwd === undefined ? {} : { workingDirectory: cwd }),
    mounts: outermostFirst(visible),
    network: transport.network ?? [],
    limits: {
      cpuMillicores: UPSTREAM_LIMITS.cpuMillicores,
      memoryMb: transport.memory_mb_limit ?? UPSTREAM_LIMITS.memoryMb,
      processesMax: UPSTREAM_LIMITS.processesMax,
      diskMb: UPSTREAM_LIMITS.diskMb,
    },
  };
}

/** The command that runs the package installed for an upstream, and no package installed otherwise. */
function installedCommand({ command, args = [], installed }: StdioTransport, packages: InstalledFolders) {
  if (installed === undefined) return undefined;
  const folder = packages.folderOf(installed);
  const npm = installed.manager === 'npm' ? npxRequest(command, args) : undefined;
  const python = installed.manager === 'pip' ? pythonRequest(command, args) : undefined;
  if ((npm ?? python)?.packageName !== installed.name) {
    throw new ToolLayerError(
      'E3801',
      `The command does not run the package ${installed.name}, which 'installed' names. Leave 'installed' out.`,
    );
  }
  if (npm !== undefined) {
    const script = installedScript(folder, npm);
    return {
      folder,
      shown: [],
      environment: {},
      command: [realpathSync(process.execPath), script, ...npm.args] as const,
    };
  }
  const { program, shown } = findPython(process.env['PATH'] ?? SYSTEM_PATH);
  return {
    folder,
    shown,
    environment: { PYTHONPATH: resolve(folder, SITE), PYTHONUNBUFFERED: '1', PYTHONDONTWRITEBYTECODE: '1' },
    command: pythonCommand(folder, python as NonNullable<typeof python>, program),
  };
}

function commandOf(
  { command, args = [], cwd }: StdioTransport,
  environment: Readonly<Record<string, string>>,
): readonly [string, ...string[]] {
  const npx = npxRequest(command, args);
  if (npx !== undefined) {
    const start = cwd === undefined ? [import.meta.dirname] : [cwd, import.meta.dirname];
    const script = findInstalled(npx, start, { ...process.env, ...environment });
    return [realpathSync(process.execPath), script, ...npx.args];
  }
  if (pythonRequest(command, args) !== undefined) {
    throw new ToolLayerError(
      'E3801',
      `'${command}' downloads its package, and a sandbox has no network. Add the upstream again with --yes, so that it is installed.`,
    );
  }
  const searchPath = [environment['PATH'], process.env['PATH'], SYSTEM_PATH].filter(Boolean).join(':');
  const program = findProgram(command, cwd, searchPath);
  // A link to a Node elsewhere would need that place to be visible too; the Python of a virtual environment needs its
  // link.
  return [isNode(program) ? realpathSync(program) : program, ...args];
}

/** Node needs only its own folder, wherever that is. */
function isNode(program: string): boolean {
  return basename(program) === 'node';
}

/** Files whose surroundings the command needs: its program, and the script given to an interpreter. */
function codeOf([program, ...args]: readonly [string, ...string[]], cwd: string | undefined): readonly string[] {
  if (!isInterpreter(program)) return [program];
  const interpreter = isNode(program) ? [] : [program];
  const script = args.find((arg) => !arg.startsWith('-'));
  if (script === undefined || (!isAbsolute(script) && cwd === undefined)) return interpreter;
  const path = resolve(cwd ?? '/', script);
  return existsSync(path) && statSync(path).isFile() ? [...interpreter, path] : interpreter;
}

/** A mount inside another must come after it, or the outer one hides it; a mount that adds nothing is left out. */
function outermostFirst(visible: ReadonlyMap<string, AccessMode>): FilesystemPermission[] {
  const mounts = [...visible].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, mode]) => ({ path, mode }));
  return mounts.filter(({ path, mode }) => {
    const nearest = mounts.findLast((other) => path.startsWith(`${other.path}/`));
    return nearest?.mode !== mode;
  });
}

function checkFolder(cwd: string): void {
  if (!isAbsolute(cwd)) throw new ToolLayerError('E3801', `The cwd '${cwd}' is not an absolute path. Give one.`);
  if (!existsSync(cwd) || !statSync(cwd).isDirectory()) {
    throw new ToolLayerError('E3801', `The cwd '${cwd}' is not a folder of this machine. Correct it, or leave it out.`);
  }
}

function checkMount(path: string): string {
  if (!isAbsolute(path)) throw new ToolLayerError('E3801', `The mount '${path}' is not an absolute path. Give one.`);
  if (!existsSync(path)) {
    throw new ToolLayerError('E3105', `The mount '${path}' does not exist on this machine. Make it, or leave it out.`);
  }
  return path;
}
