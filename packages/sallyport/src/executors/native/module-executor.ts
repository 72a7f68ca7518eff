import { isSafeToRepeat } from '../../domain/tool/tool-version.ts';
import type { Executor, ExecutorCall, ExecutorOutcome } from '../executor.port.ts';
import { isModule } from './module-config.ts';
import { type CheckSource, moduleFaults } from './module-faults.ts';
import { type ModuleDrivers, runModule } from './module-run.ts';
import { createFindSource } from './module-source.ts';

/** Dependencies of modules beside the functions of the embedding program. */
export interface ModuleParts extends ModuleDrivers {
  readonly checkSource: CheckSource;
  /** Absolute path of the operator's folder of modules; absent: sources must be in manifests. */
  readonly folder?: string;
}

/**
 * All tools of kind `native`: functions of the embedding program, and modules, which run in a sandbox (EXE-08). A
 * module has `executor.config.module`; it needs nothing of the embedding program, so anyone who may register tools may
 * register one.
 * @param functions runs everything that is not a module
 */
export function withModules(functions: Executor, parts: ModuleParts): Executor {
  const find = createFindSource(parts.folder);
  const run = (
    path: 'execute' | 'executeConfirmed',
    call: ExecutorCall,
    signal: AbortSignal,
  ): Promise<ExecutorOutcome> =>
    isModule(call.tool.manifest) ? runModule(parts, find, call, signal) : functions[path](call, signal);
  return {
    kind: 'native',
    owns: (tool) => functions.owns(tool),
    requiresConfirmation: (call) => (isModule(call.tool.manifest) ? undefined : functions.requiresConfirmation(call)),
    configFaults: (manifest) =>
      isModule(manifest) ? moduleFaults(manifest, find, parts.checkSource) : functions.configFaults(manifest),
    isRetryable: (tool) => (isModule(tool.manifest) ? isSafeToRepeat(tool.manifest) : functions.isRetryable(tool)),
    takesBackAll: (tool) => !isModule(tool.manifest) && functions.takesBackAll?.(tool) === true,
    execute: (call, signal) => run('execute', call, signal),
    // A module asks nobody, so both ways of running it are the same.
    executeConfirmed: (call, signal) => run('executeConfirmed', call, signal),
  };
}
