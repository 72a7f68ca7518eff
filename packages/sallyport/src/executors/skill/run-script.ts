import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CommandFinding, CommandScreen } from '@sallyport/guards';
import { collectOutput, runtimeMounts, type SandboxDriver, type SandboxSpec } from '@sallyport/sandbox';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CallFolder } from '../../bridges/call-folders.ts';
import { abortReason } from '../abort-reason.ts';
import { blockedFailure, questionOf, unconfirmedFailure } from '../command-verdict.ts';
import type { ExecutorCall, ExecutorOutcome } from '../executor.port.ts';
import { CHECKPOINTS_VARIABLE, type ProgramCheckpoints, programCheckpoints } from '../programs/program-checkpoints.ts';
import { envelopeOf, outputBounds, type ProgramWords, usageOf, withoutSecrets } from '../programs/program-end.ts';
import { sandboxLimits } from '../sandbox-limits.ts';
import { isShell, type Starter, starterOf } from './script-command.ts';
import { SKILL_RUN_BOUNDS } from './settings.ts';
import type { SkillTask } from './skill-parameters.ts';

type ScriptTask = Extract<SkillTask, { readonly what: 'script' }>;

/** The script that a call names, with its content, which was checked against its hash. */
export interface ReadScript {
  readonly task: ScriptTask;
  readonly content: Buffer;
}

/** One run of a script. */
export interface ScriptRun extends ReadScript {
  readonly call: ExecutorCall;
  /** True when a person confirmed the call. */
  readonly isConfirmed: boolean;
  /** Where the skill's files lie. */
  readonly folder: string;
  /** What the call brings to the script; undefined for nothing. */
  readonly brought: Pick<CallFolder, 'path' | 'variables'> | undefined;
}

const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';

/**
 * Runs a bundled script in a sandbox: the skill's folder is the read-only working directory, arguments are never parsed
 * by a shell, and a script for a shell has its text screened (EXE-02, EXE-08).
 * @throws ToolLayerError E3008 when the interpreter is unknown; E3210 when the screen refuses it; the errors of the
 *   sandbox and of a failed run
 */
export async function runScript(
  driver: SandboxDriver,
  screen: CommandScreen,
  run: ScriptRun,
  signal: AbortSignal,
): Promise<ExecutorOutcome> {
  const starter = starterOf(run.task.script.path, run.content);
  if (starter === undefined) throw notStartable(run.task.script.path);
  const refused = refusalOf(screen, starter, run, run.isConfirmed);
  if (refused !== undefined) throw ToolLayerError.of(refused);
  const checkpoints = checkpointsOf(run);
  const spec = specOf(starter, run, checkpoints);
  await using running = await driver.start(spec);
  const stop = (): void => running.kill(SKILL_RUN_BOUNDS.termGraceMs);
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) stop();
    const bounds = outputBounds(run.call.grant.limits.outputBytesMax, true);
    const collected = collectOutput(checkpoints?.over(running) ?? running, bounds);
    running.stdin.on('error', ignore);
    if (checkpoints === undefined) running.stdin.end(run.task.stdin);
    const [exit, output] = await Promise.all([running.exited, collected]);
    const usage = usageOf(exit);
    run.call.onUsage?.(usage);
    if (signal.aborted) throw abortReason(signal);
    const end = { exit, output: withoutSecrets(output, run.call.secrets), limits: spec.limits };
    const envelope = envelopeOf(end, wordsOf(run.task.script.path), SUCCESS);
    return { result: envelope, usage, exit: envelope };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const SUCCESS: ReadonlySet<number> = new Set([0]);

/**
 * A script saves checkpoints when its text names the variable.
 * @throws E3801 when it would get an input of the call too
 */
function checkpointsOf({ call, content, task }: ScriptRun): ProgramCheckpoints | undefined {
  if (!content.includes(CHECKPOINTS_VARIABLE)) return undefined;
  if (task.stdin !== undefined) throw takesNoInput(task.script.path);
  return programCheckpoints(call.checkpoints);
}

const wordsOf = (path: string): ProgramWords => ({
  kind: 'script',
  name: path,
  notFound: `${path} failed with exit code 127. A program that it needs is not installed on this machine.`,
});

/** The question for a person before a script runs; undefined for none, and for scripts that `runScript` refuses. */
export function scriptQuestion(screen: CommandScreen, script: ReadScript): string | undefined {
  const starter = starterOf(script.task.script.path, script.content);
  if (starter === undefined) return undefined;
  return questionOf(findingsIn(screen, starter, script), 'script');
}

function refusalOf(
  screen: CommandScreen,
  starter: Starter,
  script: ReadScript,
  isConfirmed: boolean,
): Failure | undefined {
  const { path } = script.task.script;
  if (isShell(starter) && script.content.length > SKILL_RUN_BOUNDS.screenedBytesMax) {
    const message = `${path} is longer than a script may be that is screened.`;
    return failure('E3210', message, { details: { screen: 'skill' } });
  }
  const findings = findingsIn(screen, starter, script);
  return blockedFailure(findings, 'script') ?? (isConfirmed ? undefined : unconfirmedFailure(findings, 'script'));
}

/** Screens the command line, whose program and file the skill fixes, and the script's text when a shell runs it. */
function findingsIn(screen: CommandScreen, starter: Starter, { task, content }: ReadScript): readonly CommandFinding[] {
  const { script, args, stdin } = task;
  const line = screen([...starter, script.path, ...args], stdin, starter.length + 1).findings;
  return isShell(starter) ? [...line, ...screen(content.toString('utf8'), stdin).findings] : line;
}

function specOf(
  starter: Starter,
  { call, task, folder, brought }: ScriptRun,
  checkpoints: ProgramCheckpoints | undefined,
): SandboxSpec {
  const isolation = call.tool.manifest.execution_config?.isolation;
  const node = realpathSync(process.execPath);
  const [program, ...rest] = starter;
  const command: [string, ...string[]] = [
    program === 'node' || program === 'nodejs' ? node : program,
    ...rest,
    join(folder, task.script.path),
    ...task.args,
  ];
  return {
    label: call.tool.manifest.tool_id,
    command,
    environment: {
      HOME: '/tmp',
      LANG: 'C.UTF-8',
      PYTHONDONTWRITEBYTECODE: '1',
      ...call.environment,
      ...Object.fromEntries(call.secrets),
      ...(checkpoints === undefined ? {} : { [CHECKPOINTS_VARIABLE]: checkpoints.mark }),
      ...brought?.variables,
      PATH: `${dirname(node)}:${SYSTEM_PATH}`,
    },
    workingDirectory: folder,
    mounts: [...runtimeMounts([node]), ...call.grant.filesystem],
    own: brought === undefined ? [folder] : [folder, brought.path],
    network: call.grant.network,
    ...(isolation === undefined ? {} : { isolation }),
    limits: sandboxLimits(call, SKILL_RUN_BOUNDS),
  };
}

function takesNoInput(path: string): ToolLayerError {
  const message = `${path} saves checkpoints over its input, so a call cannot give it one. Leave out stdin, and use arguments.`;
  return new ToolLayerError('E3801', message);
}

function notStartable(path: string): ToolLayerError {
  const message = `Nothing says what starts ${path}: it has no #! line that can be read, and its name does not tell. Add one and import the skill again.`;
  return new ToolLayerError('E3008', message);
}

/** A script that does not read its input is no failure. */
function ignore(): void {}
