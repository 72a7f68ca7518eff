import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { findProgram, isBaseSystem } from '../stdio/program.ts';
import type { PythonRequest } from './python-request.ts';

/** Folder of the modules, within an installed package. */
export const SITE = 'site';

/** A Python, and the folders that must be visible for it. */
export interface Python {
  readonly program: string;
  readonly shown: readonly string[];
}

/** @throws E3801 when there is none whose files can be made visible */
export function findPython(searchPath: string): Python {
  const program = realpathSync(findProgram('python3', undefined, searchPath));
  if (isBaseSystem(program)) return { program, shown: [] };
  const prefix = dirname(dirname(program));
  const home = homedir();
  if (prefix === '/' || prefix === home || home.startsWith(`${prefix}/`)) {
    throw new ToolLayerError(
      'E3801',
      `The Python at ${program} lies in a folder that no sandbox sees. Install another.`,
    );
  }
  return { program, shown: [prefix] };
}

const IDENTIFIERS = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;

/**
 * The command that runs a program of an installed package.
 * @throws E3801 when the package has no such program, listing its programs
 */
export function pythonCommand(
  folder: string,
  { bin, args }: PythonRequest,
  python: string,
): readonly [string, ...string[]] {
  const scripts = consoleScripts(join(folder, SITE));
  const [module = '', target = ''] = (scripts.get(bin) ?? '').split(':');
  if (!IDENTIFIERS.test(module) || !IDENTIFIERS.test(target)) {
    const known = [...scripts.keys()].join(', ') || 'none';
    throw new ToolLayerError('E3801', `The installed Python package has no program '${bin}'. Its programs: ${known}.`);
  }
  const [top] = target.split('.');
  const code = `import sys; sys.argv[0] = ${JSON.stringify(bin)}; from ${module} import ${top}; sys.exit(${target}())`;
  return [python, '-c', code, ...args];
}

/** Programs of all packages in a folder, by their metadata. */
function consoleScripts(site: string): ReadonlyMap<string, string> {
  const scripts = new Map<string, string>();
  if (!existsSync(site)) return scripts;
  for (const entry of readdirSync(site)) {
    const file = join(site, entry, 'entry_points.txt');
    if (!entry.endsWith('.dist-info') || !existsSync(file)) continue;
    let section = '';
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      section = /^\s*\[(.+)\]\s*$/.exec(line)?.[1] ?? section;
      const [, name, target] = /^\s*([^=\s]+)\s*=\s*([^\s[]+)/.exec(line) ?? [];
      if (section === 'console_scripts' && name !== undefined && target !== undefined) scripts.set(name, target);
    }
  }
  return scripts;
}
