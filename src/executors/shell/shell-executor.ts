// Hot path: runs for every call to a shell tool.
import { ToolLayerError } from '../../domain/error/tool-layer-error.ts';
import { isSafeToRepeat } from '../../domain/tool/tool-version.ts';
import { type CollectedOutput, collectOutput, type OutputBounds } from '../../sandbox/collect-output.ts';
import type { SandboxDriver, SandboxExit } from '../../sandbox/driver.port.ts';
import { abortReason } from '../abort-reason.ts';
import type { Executor, ExecutorCall, ExecutorOutcome } from '../executor.port.ts';
import { hideSecrets } from '../hide-secrets.ts';
import { configFaults } from './config-faults.ts';
import { SHELL_BOUNDS } from './settings.ts';
import { resultOf } from './shell-outcome.ts';
import { inputOf, planOf, type ShellPlan, specOf } from './shell-plan.ts';
import { createShellPolicy, type ShellPolicy } from './shell-policy.ts';
import { createShellScreen } from './shell-screen.ts';

/** What the shell executor needs. */
export interface ShellExecutorParts {
  readonly driver: SandboxDriver;
  /** Which commands are refused; the rules of `checkCommand` alone when absent. */
  readonly policy?: ShellPolicy;
}

/**
 * Runs programs in a sandbox. The manifest holds the command with places for parameters; no shell reads it, so a value
 * is never more than one argument. Every command is screened with the policy of the moment, whoever asks for it (EXE-02).
 */
export function createShellExecutor({ driver, policy = createShellPolicy() }: ShellExecutorParts): Executor {
  const screen = createShellScreen(policy);
  const run = async (call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome> => {
    const refused = screen(call.tool, call.parameters);
    if (refused !== undefined) throw ToolLayerError.of(refused);
    return runTool(driver, call, signal);
  };
  return {
    kind: 'shell',
    owns: ({ manifest }) => manifest.executor.kind === 'shell',
    requiresConfirmation: () => false,
    screen,
    definitions: () => [],
    configFaults,
    isRetryable: ({ manifest }) => isSafeToRepeat(manifest),
    execute: run,
    // The same checks stand on both paths, because there is one way to a process only.
    executeConfirmed: run,
  };
}

async function runTool(driver: SandboxDriver, call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome> {
  if (signal.aborted) throw abortReason(signal);
  const plan = planOf(call.tool.manifest);
  const spec = specOf(plan, call);
  const input = inputOf(plan, call);
  await using running = await driver.start(spec);
  const stop = (): void => running.kill(SHELL_BOUNDS.termGraceMs);
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) stop();
    const collected = collectOutput(running, boundsOf(plan, call.grant.limits.outputBytesMax));
    running.stdin.end(input);
    const [exit, output] = await Promise.all([running.exited, collected]);
    if (signal.aborted) throw abortReason(signal);
    const result = resultOf(plan, { exit, output: withoutSecrets(output, call), limits: spec.limits });
    return { result, usage: usageOf(exit) };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** An envelope shares the bytes of the call between the streams; otherwise stdout is the result and may have all. */
function boundsOf({ config }: ShellPlan, outputBytesMax: number): OutputBounds {
  const stderrBytesMax = Math.min(SHELL_BOUNDS.stderrBytesMax, Math.floor(outputBytesMax * SHELL_BOUNDS.stderrShare));
  const isEnvelope = (config.output ?? 'envelope') === 'envelope';
  return { stdoutBytesMax: isEnvelope ? outputBytesMax - stderrBytesMax : outputBytesMax, stderrBytesMax };
}

function withoutSecrets(output: CollectedOutput, { secrets }: ExecutorCall): CollectedOutput {
  const hide = hideSecrets(secrets);
  return { ...output, stdout: hide(output.stdout), stderr: hide(output.stderr) };
}

function usageOf({ cpuMs, memoryPeakMb, network }: SandboxExit): ExecutorOutcome['usage'] {
  return {
    // One ms of a whole core is one thousandth of a core for a second.
    cpuMillicoreSeconds: cpuMs,
    memoryPeakMb,
    networkBytesSent: network?.bytesSent ?? 0,
    networkBytesReceived: network?.bytesReceived ?? 0,
  };
}
