// Hot path: runs for every call to a shell tool.
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

/**
 * Runs programs in a sandbox. The manifest holds the command with places for parameters; no shell reads it, so a value
 * is never more than one argument.
 */
export function createShellExecutor({ driver }: { readonly driver: SandboxDriver }): Executor {
  const run = (call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome> => runTool(driver, call, signal);
  return {
    kind: 'shell',
    owns: ({ manifest }) => manifest.executor.kind === 'shell',
    requiresConfirmation: () => false,
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

function usageOf({ cpuMs, memoryPeakMb }: SandboxExit): ExecutorOutcome['usage'] {
  // One ms of a whole core is one thousandth of a core for a second.
  return { cpuMillicoreSeconds: cpuMs, memoryPeakMb, networkBytesSent: 0, networkBytesReceived: 0 };
}
