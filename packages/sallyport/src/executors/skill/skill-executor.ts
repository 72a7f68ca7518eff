import type { CommandScreen } from '@sallyport/guards';
import type { SandboxDriver } from '@sallyport/sandbox';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { type CallFolders, callFolder } from '../../bridges/call-folders.ts';
import { NO_USAGE } from '../../domain/invocation/usage.ts';
import { isSafeToRepeat } from '../../domain/tool/tool-version.ts';
import type { SkillFiles } from '../../registry/skill-files.port.ts';
import { SkillPackage } from '../../registry/skill-package.ts';
import { wireCheck } from '../../registry/wire-faults.ts';
import { abortReason } from '../abort-reason.ts';
import { environmentRefusal } from '../call-environment.ts';
import { blockedFailure } from '../command-verdict.ts';
import type { Executor, ExecutorCall, ExecutorOutcome } from '../executor.port.ts';
import { runScript, scriptQuestion } from './run-script.ts';
import { starterOf } from './script-command.ts';
import { contentOf, instructionsOf } from './skill-answers.ts';
import { readKept } from './skill-folders.ts';
import { type SkillTask, taskOf } from './skill-parameters.ts';

/** Dependencies of the skill executor. */
export interface SkillExecutorParts {
  /** Runs the scripts. */
  readonly driver: SandboxDriver;
  /** Storage of imported files. */
  readonly files: SkillFiles;
  /** The current screen of commands. */
  readonly screen: () => CommandScreen;
  /** Brings documents and contexts of sessions to scripts. */
  readonly folders: CallFolders;
}

const configFaults = wireCheck(SkillPackage, 'E3008', '/executor/config');
const NOTHING = Buffer.alloc(0);

/**
 * Runs skills (EXE-08): without parameters a call returns the instructions and the list of files, with `file` the
 * content of one, with `script` the result of a bundled script in a sandbox.
 */
export function createSkillExecutor({ driver, files, screen, folders }: SkillExecutorParts): Executor {
  const run = async (call: ExecutorCall, signal: AbortSignal, isConfirmed: boolean): Promise<ExecutorOutcome> => {
    if (signal.aborted) throw abortReason(signal);
    const skill = skillOf(call.tool.manifest);
    const task = taskOf(skill, call.parameters);
    if (task.what === 'instructions') return { result: instructionsOf(skill), usage: NO_USAGE };
    const refused = environmentRefusal({ takesVariables: 'any' }, call.tool.manifest, call.environment ?? {});
    if (refused !== undefined) throw ToolLayerError.of(refused);
    const kept = await keptFile(files, call, skill, task);
    if (kept === undefined) throw notKept(call.tool.manifest.tool_id);
    if (signal.aborted) throw abortReason(signal);
    if (task.what === 'script') {
      await using brought = await callFolder(folders, call);
      return await runScript(driver, screen(), { call, isConfirmed, task, ...kept, brought }, signal);
    }
    const { outputBytesMax } = call.grant.limits;
    return { result: contentOf(task.file.path, kept.content, task.offset, outputBytesMax), usage: NO_USAGE };
  };
  const questionAbout = async (call: ExecutorCall): Promise<string | undefined> => {
    const skill = skillOf(call.tool.manifest);
    const task = taskOf(skill, call.parameters);
    if (task.what !== 'script') return undefined;
    const kept = await keptFile(files, call, skill, task);
    return kept && scriptQuestion(screen(), { task, content: kept.content });
  };
  return {
    kind: 'skill',
    owns: ({ manifest }) => manifest.executor.kind === 'skill',
    requiresConfirmation: questionAbout,
    screen: ({ manifest }, parameters) => screenCall(skillOf(manifest), parameters, screen()),
    takesVariables: 'any',
    configFaults: ({ executor }) => configFaults(executor.config ?? {}),
    isRetryable: ({ manifest }) => isSafeToRepeat(manifest),
    execute: (call, signal) => run(call, signal, false),
    executeConfirmed: (call, signal) => run(call, signal, true),
  };
}

/** The file that a call names, from the skill's folder; undefined when it is missing or was changed. */
async function keptFile(
  files: SkillFiles,
  { tool }: ExecutorCall,
  skill: SkillPackage,
  task: Exclude<SkillTask, { readonly what: 'instructions' }>,
): Promise<{ readonly folder: string; readonly content: Buffer } | undefined> {
  const folder = await files.folderOf(tool.tenantId, skill);
  if (folder === undefined) return undefined;
  const content = await readKept(folder, task.what === 'file' ? task.file : task.script);
  return content && { folder, content };
}

function skillOf({ executor }: ExecutorCall['tool']['manifest']): SkillPackage {
  // Checked when it was registered.
  return executor.config as unknown as SkillPackage;
}

/** The verdict possible before the files are read: on the parameters, and on the command line by the script's name. */
function screenCall(
  skill: SkillPackage,
  parameters: ExecutorCall['parameters'],
  screen: CommandScreen,
): Failure | undefined {
  const task = taskOrFailure(skill, parameters);
  if ('failure' in task) return task.failure;
  if (task.what !== 'script') return undefined;
  const { script, args, stdin } = task;
  const starter = starterOf(script.path, NOTHING) ?? [];
  const { findings } = screen([...starter, script.path, ...args], stdin, starter.length + 1);
  return blockedFailure(findings, 'script');
}

function taskOrFailure(skill: SkillPackage, parameters: ExecutorCall['parameters']): SkillTask | { failure: Failure } {
  try {
    return taskOf(skill, parameters);
  } catch (thrown) {
    if (thrown instanceof ToolLayerError) return { failure: thrown.failure };
    return { failure: failure('E3801', 'The parameters cannot be read.') };
  }
}

function notKept(toolId: string): ToolLayerError {
  const message = `The files of ${toolId} are not kept, or were changed. Import the skill again.`;
  return new ToolLayerError('E3901', message, { details: { tool_id: toolId, kind: 'skill' } });
}
