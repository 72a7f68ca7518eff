import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';

/** Folders of the base system that every sandbox shows. */
const BASE_SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib64'];
const CONTAINER_HINT =
  'containers are started by a daemon or by rights that no sandbox has. Start the container yourself with the HTTP transport of its server ' +
  '(docker run -p 127.0.0.1:PORT:PORT IMAGE …) and add it with --url, or run the same server as a package (npx, uvx).';
/** Programs that cannot work in a sandbox, and what to use instead. */
const HINTS: Readonly<Record<string, string>> = {
  uv: 'only uvx and uv tool run are known. Install the project and give the path of the Python in its environment.',
  pipx: 'only pipx run is known. Give the path of the program that pipx installed.',
  docker: CONTAINER_HINT,
  podman: CONTAINER_HINT,
  nerdctl: CONTAINER_HINT,
};

/** True when every sandbox shows this path. */
export function isBaseSystem(path: string): boolean {
  return BASE_SYSTEM.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

/**
 * Absolute path of a program: as given, relative to `cwd` when it holds a slash, else looked up in `searchPath`. The
 * running Node stands in for `node` when the search finds none.
 * @throws E3801 when there is no such program, saying what to change
 */
export function findProgram(command: string, cwd: string | undefined, searchPath: string): string {
  const hint = HINTS[basename(command)];
  if (hint !== undefined) throw new ToolLayerError('E3801', `The program '${command}' cannot be used here: ${hint}`);
  const found = command.includes('/') ? ownPath(command, cwd) : onPath(command, searchPath);
  if (found !== undefined) return found;
  if (command === 'node') return realpathSync(process.execPath);
  throw new ToolLayerError(
    'E3801',
    `The program '${command}' was not found. Install it, or give the absolute path of the program.`,
  );
}

/** True when the path names an executable file. */
function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function ownPath(command: string, cwd: string | undefined): string | undefined {
  if (!isAbsolute(command) && cwd === undefined) {
    throw new ToolLayerError('E3801', `The program '${command}' is a relative path. Give an absolute one, or a cwd.`);
  }
  const path = resolve(cwd ?? '/', command);
  return isProgram(path) ? path : undefined;
}

function onPath(command: string, searchPath: string): string | undefined {
  const candidates = searchPath
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, command))
    .filter(isProgram);
  // Shims of version managers read their own configuration, which a sandbox does not show; the real program comes later
  // in the list.
  return candidates.find((path) => !path.includes('/shims/')) ?? candidates[0];
}

/**
 * The folder or file that must be visible for the code at `path` to run: the outermost `node_modules` around it, its
 * Python environment, its package, or just the file. Never a home folder or `/`.
 * @param home folder that must not be shown as a whole
 */
export function codeRoots(path: string, home: string): readonly string[] {
  const real = realpathSync(path);
  const roots = [path, real].flatMap((place) => (isBaseSystem(place) ? [] : rootsOf(place, home)));
  return [...new Set(roots)];
}

function rootsOf(path: string, home: string): readonly string[] {
  const modules = path.indexOf('/node_modules/');
  if (modules !== -1) return [path.slice(0, modules + '/node_modules'.length)];
  const parent = dirname(dirname(path));
  if (existsSync(join(parent, 'pyvenv.cfg'))) return [parent];
  for (let folder = dirname(path); isShowable(folder, home); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) || existsSync(join(folder, 'pyproject.toml'))) {
      return [folder, ...modulesAbove(folder)];
    }
  }
  return [path];
}

/** `node_modules` of the folders above a package, where a workspace keeps shared packages. */
function modulesAbove(folder: string): readonly string[] {
  const found: string[] = [];
  for (let above = dirname(folder); above !== dirname(above); above = dirname(above)) {
    const modules = join(above, 'node_modules');
    if (existsSync(modules)) found.push(modules);
  }
  return found;
}

/** False for folders too wide to show just because a program lies in them. */
function isShowable(folder: string, home: string): boolean {
  return folder !== '/' && folder !== home && folder !== '/tmp' && folder !== '/home' && !home.startsWith(`${folder}/`);
}
