import { collectOutput, type OutputBounds, type SandboxDriver, type SandboxSpec } from '@sallyport/sandbox';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { type CallFolders, callFolder } from '../../bridges/call-folders.ts';
import { isSafeToRepeat } from '../../domain/tool/tool-version.ts';
import { abortReason } from '../abort-reason.ts';
import { environmentRefusal } from '../call-environment.ts';
import type { Executor, ExecutorCall, ExecutorOutcome } from '../executor.port.ts';
import { type ProgramCheckpoints, programCheckpoints } from '../programs/program-checkpoints.ts';
import { outputBounds, type ProgramEnd, usageOf, withoutSecrets } from '../programs/program-end.ts';
import { fillCommand } from './command/argument-template.ts';
import { configFaults } from './config-faults.ts';
import { SHELL_BOUNDS } from './settings.ts';
import { outcomeOf } from './shell-outcome.ts';
import { inputOf, planOf, specOf } from './shell-plan.ts';
import type { ShellPolicy } from './shell-policy.ts';
import { createShellScreen } from './shell-screen.ts';
import { commandEndOf, settleFailure } from './transaction/settle-failure.ts';
import type { Transactions } from './transaction/transactions.ts';

/** Dependencies of the shell executor. */
export interface ShellExecutorParts {
  readonly driver: SandboxDriver;
  /** Policy of refused commands. */
  readonly policy: ShellPolicy;
  /** Undoes the changes of failed commands. */
  readonly transactions: Transactions;
  /** Brings documents and contexts of sessions to commands. */
  readonly folders: CallFolders;
}

/** A command is written for its own variables: callers may set only those that its manifest names. */
const TAKES = { takesVariables: 'named' } as const;

/**
 * Runs programs in a sandbox. The manifest holds the command with placeholders; no shell parses it, so a value is never
 * more than one argument. Every command is screened with the current policy, whoever calls (EXE-02): a blocked command
 * never runs, a questioned one only after a person confirmed it.
 */
export function createShellExecutor(parts: ShellExecutorParts): Executor {
  const screen = createShellScreen(parts.policy);
  const run = async (call: ExecutorCall, signal: AbortSignal, isConfirmed: boolean): Promise<ExecutorOutcome> => {
    const { refused, unconfirmed } = screen(call.tool, call.parameters);
    const failed = refused ?? (isConfirmed ? undefined : unconfirmed);
    if (failed !== undefined) throw ToolLayerError.of(failed);
    const variables =
      call.environment === undefined ? undefined : environmentRefusal(TAKES, call.tool.manifest, call.environment);
    if (variables !== undefined) throw ToolLayerError.of(variables);
    return runTool(parts, call, signal);
  };
  return {
    kind: 'shell',
    owns: ({ manifest }) => manifest.executor.kind === 'shell',
    commandOf: ({ manifest }, parameters) => {
      const { command, config } = planOf(manifest);
      return fillCommand(command, parameters, config.allow_leading_dash === true);
    },
    requiresConfirmation: ({ tool, parameters }) => screen(tool, parameters).question,
    screen: (tool, parameters) => screen(tool, parameters).refused,
    ...TAKES,
    configFaults,
    isRetryable: ({ manifest }) => isSafeToRepeat(manifest),
    execute: (call, signal) => run(call, signal, false),
    executeConfirmed: (call, signal) => run(call, signal, true),
  };
}

async function runTool(
  { driver, transactions, folders }: ShellExecutorParts,
  call: ExecutorCall,
  signal: AbortSignal,
): Promise<ExecutorOutcome> {
  if (signal.aborted) throw abortReason(signal);
  const plan = planOf(call.tool.manifest);
  const checkpoints = plan.config.stdin === 'checkpoints' ? programCheckpoints(call.checkpoints) : undefined;
  await using folder = await callFolder(folders, call);
  const spec = specOf(plan, call, { checkpoints, folder });
  const bounds = outputBounds(call.grant.limits.outputBytesMax, (plan.config.output ?? 'envelope') === 'envelope');
  await using transaction = await transactions.begin(call, spec.command, signal);
  const { exit, output } = await runProgram(driver, { spec, bounds, input: inputOf(plan, call), checkpoints }, signal);
  const usage = usageOf(exit);
  call.onUsage?.(usage);
  const end = { exit, output: withoutSecrets(output, call.secrets), limits: spec.limits };
  try {
    if (signal.aborted) throw abortReason(signal);
    return { ...outcomeOf(plan, end), usage };
  } catch (failed) {
    if (transaction === undefined) throw failed;
    throw await settleFailure(transaction, commandEndOf(plan, end, signal), failed);
  }
}

interface Program {
  readonly spec: SandboxSpec;
  readonly bounds: OutputBounds;
  readonly input: string | undefined;
  readonly checkpoints: ProgramCheckpoints | undefined;
}

/** Runs the program to its end; nothing of it remains when this resolves. */
async function runProgram(
  driver: SandboxDriver,
  { spec, bounds, input, checkpoints }: Program,
  signal: AbortSignal,
): Promise<Pick<ProgramEnd, 'exit' | 'output'>> {
  // Securing the files may have taken longer than the call had.
  if (signal.aborted) throw abortReason(signal);
  await using running = await driver.start(spec);
  const stop = (): void => running.kill(SHELL_BOUNDS.termGraceMs);
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) stop();
    const collected = collectOutput(checkpoints?.over(running) ?? running, bounds);
    if (checkpoints === undefined) running.stdin.end(input);
    const [exit, output] = await Promise.all([running.exited, collected]);
    return { exit, output };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
