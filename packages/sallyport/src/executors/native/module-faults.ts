import type { Fault } from '../../../api/schemas/error.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { wireCheck } from '../../registry/wire-faults.ts';
import { ModuleConfig, moduleConfigOf } from './module-config.ts';
import type { FindSource } from './module-source.ts';

const CONFIG = '/executor/config';

/** A fault in a source. */
export interface SourceFault {
  readonly message: string;
  /** From 1. */
  readonly line?: number;
}

/** Parses a source without running it; undefined when its syntax is valid. */
export type CheckSource = (source: string, format: 'module' | 'script') => SourceFault | undefined;

const matchesContract = wireCheck(ModuleConfig, 'E3008', CONFIG);

/** Faults of a module: the shape of its configuration, its source, and permissions that it could never use. */
export function moduleFaults(manifest: ToolManifest, find: FindSource, check: CheckSource): readonly Fault[] {
  const shape = matchesContract(manifest.executor.config ?? {});
  if (shape.length > 0) return shape;
  const config = moduleConfigOf(manifest);
  return [...exportFaults(config), ...sourceFaults(config, find, check), ...permissionFaults(manifest)];
}

function exportFaults({ format, export: name }: ModuleConfig): Fault[] {
  if (format !== 'script' || name === undefined) return [];
  const hint = 'Leave it out: the last value of a script is the function.';
  return [fault(`${CONFIG}/export`, 'export', 'a script exports nothing', hint)];
}

function sourceFaults({ module, format = 'module' }: ModuleConfig, find: FindSource, check: CheckSource): Fault[] {
  const inFile = typeof module !== 'string';
  const found = find(module);
  if ('problem' in found) {
    return [fault(`${CONFIG}/module/path`, 'path', found.problem, 'Name a file of the folder of modules.')];
  }
  if (found.source.includes('\0')) {
    return [fault(`${CONFIG}/module`, 'syntax', 'holds a NUL character', 'Write an escape in its place.')];
  }
  const wrong = check(found.source, format);
  if (wrong === undefined) return [];
  const { line, message } = wrong;
  const place = `${inFile ? `${module.path}, ` : ''}${line === undefined ? '' : `line ${line}: `}`;
  const hint = format === 'module' ? 'It must be an ES module that imports nothing.' : 'It must be a script.';
  return [fault(`${CONFIG}/module`, 'syntax', `${place}${message}`, hint)];
}

function permissionFaults({ permissions }: ToolManifest): Fault[] {
  return (['filesystem', 'network'] as const).flatMap((kind) => {
    if ((permissions?.[kind] ?? []).length === 0) return [];
    const what = kind === 'filesystem' ? 'files' : 'addresses';
    const hint = 'Leave it out, or use a tool of another kind.';
    return [fault(`/permissions/${kind}`, 'permissions', `a module reaches no ${what}`, hint)];
  });
}

function fault(path: string, keyword: string, message: string, hint: string): Fault {
  return { path, code: 'E3008', keyword, message, hint };
}
