import { constants } from 'node:os';
import { ToolLayerError } from '../../domain/error/tool-layer-error.ts';
import type { CollectedOutput } from '../../sandbox/collect-output.ts';
import type { SandboxExit, SandboxLimits } from '../../sandbox/driver.port.ts';
import type { ShellOutputEnvelope } from './shell-config.ts';
import type { ShellPlan } from './shell-plan.ts';

/** Exit codes by which shells say that a program may not run, or is not there. */
const NOT_PERMITTED = 126;
const NOT_FOUND = 127;
const SIGNAL_BASE = 128;
const NO_ACCESS = /permission denied|no such file/i;

/** How a sandbox ended, with what the tool wrote; secrets are hidden already. */
export interface ShellEnd {
  readonly exit: SandboxExit;
  readonly output: CollectedOutput;
  readonly limits: SandboxLimits;
}

/**
 * The result of a run.
 * @throws E3101 when the tool never ran; E3102 when a limit ended it; E3210 for exit code 126; E3108 for any other failure;
 *   E3501 when the manifest promises JSON and it wrote something else
 */
export function resultOf({ config, successCodes }: ShellPlan, end: ShellEnd): unknown {
  const { exit, output } = end;
  const envelope = envelopeOf(exit, output);
  if (exit.notStarted === true) {
    throw new ToolLayerError('E3101', 'The sandbox of the tool could not be set up, so the tool did not run.', {
      cause: new Error(output.stderr),
    });
  }
  checkLimits(end, envelope);
  if (exit.signal !== undefined || !successCodes.has(envelope.exit_code)) throw failed(envelope, exit);
  if (config.output === 'text') return output.stdout;
  return config.output === 'json' ? parsed(output) : envelope;
}

function envelopeOf(exit: SandboxExit, { stdout, stderr, truncated }: CollectedOutput): ShellOutputEnvelope {
  return { stdout, stderr, exit_code: exit.code ?? codeOfSignal(exit.signal), truncated };
}

function codeOfSignal(signal: string | undefined): number {
  const numbers: Readonly<Record<string, number>> = constants.signals;
  return SIGNAL_BASE + (numbers[signal ?? ''] ?? 0);
}

function checkLimits({ exit, output, limits }: ShellEnd, envelope: ShellOutputEnvelope): void {
  const limit = output.flooded ? 'output' : exit.violation;
  if (limit === undefined) return;
  const bounds: Readonly<Record<typeof limit, string>> = {
    memory: `${limits.memoryMb} MB of memory`,
    processes: `${limits.processesMax} processes`,
    disk: `${limits.diskMb} MB in one file`,
    cpu: `${limits.cpuSecondsMax} s of processor time`,
    output: 'more output than is read',
  };
  throw new ToolLayerError('E3102', `The tool was stopped at its limit: ${bounds[limit]}. Ask for less work at once.`, {
    details: { limit, envelope },
  });
}

function failed(envelope: ShellOutputEnvelope, exit: SandboxExit): ToolLayerError {
  const details = { envelope };
  const code = envelope.exit_code;
  if (code === NOT_PERMITTED) {
    return new ToolLayerError('E3210', 'The tool may not run its program here (exit code 126).', { details });
  }
  if (code === NOT_FOUND) {
    const message =
      'The program of the tool is not there (exit code 127). Its folder may lack in permissions.filesystem.';
    return new ToolLayerError('E3108', message, { details });
  }
  const ended = exit.signal === undefined ? `exit code ${code}` : `signal ${exit.signal}`;
  const access = NO_ACCESS.exec(envelope.stderr)?.[0].toLowerCase();
  if (access === undefined) return new ToolLayerError('E3108', `The tool failed with ${ended}.`, { details });
  const message = `The tool failed with ${ended}: ${access}. It sees only the folders that the call may use.`;
  return new ToolLayerError('E3108', message, { details });
}

function parsed({ stdout, truncated }: CollectedOutput): unknown {
  try {
    return JSON.parse(stdout) as unknown;
  } catch (cause) {
    const message = truncated ? 'The output of the tool was cut, so it is not whole JSON.' : 'The tool wrote no JSON.';
    throw new ToolLayerError('E3501', message, { cause });
  }
}
