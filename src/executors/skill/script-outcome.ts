import { constants } from 'node:os';
import { ToolLayerError } from '../../domain/error/tool-layer-error.ts';
import type { CollectedOutput } from '../../sandbox/collect-output.ts';
import type { SandboxExit, SandboxLimits } from '../../sandbox/driver.port.ts';

const SIGNAL_BASE = 128;
/** What `sh` says of a program that is not there, and of one that it may not start. */
const NOT_FOUND = 127;
const NOT_PERMITTED = 126;

/** What a script gives (002). */
export interface ScriptResult {
  readonly stdout: string;
  readonly stderr: string;
  /** As a shell tells it: 128 + number for a signal. */
  readonly exit_code: number;
  /** Whether stdout or stderr was cut. */
  readonly truncated: boolean;
}

/**
 * The result of a script.
 * @throws E3101 when it never ran; E3107 when its sandbox was lost; E3102 when a limit ended it; E3210 for exit code 126; E3108 for any other failure
 */
export function scriptResult(
  script: string,
  exit: SandboxExit,
  output: CollectedOutput,
  limits: SandboxLimits,
): ScriptResult {
  if (exit.notStarted === true) {
    throw new ToolLayerError('E3101', 'The sandbox of the script could not be set up, so it did not run.', {
      cause: new Error(output.stderr),
    });
  }
  if (exit.lost === true) {
    throw new ToolLayerError('E3107', 'The sandbox of the script was lost while it ran.', {
      details: { reached: true },
    });
  }
  const { stdout, stderr, truncated } = output;
  const envelope = { stdout, stderr, exit_code: exit.code ?? codeOfSignal(exit.signal), truncated };
  const limit = output.flooded ? 'output' : exit.violation;
  if (limit !== undefined) {
    const bounds: Readonly<Record<typeof limit, string>> = {
      memory: `${limits.memoryMb} MB of memory`,
      processes: `${limits.processesMax} processes`,
      disk: `${limits.diskMb} MB in one file`,
      cpu: `${limits.cpuSecondsMax} s of processor time`,
      output: 'more output than is read',
    };
    const message = `The script was stopped at its limit: ${bounds[limit]}. Ask for less work at once.`;
    throw new ToolLayerError('E3102', message, { details: { limit, envelope } });
  }
  if (exit.signal !== undefined || envelope.exit_code !== 0) throw failed(script, envelope, exit.signal);
  return envelope;
}

function failed(script: string, envelope: ScriptResult, signal: string | undefined): ToolLayerError {
  const details = { envelope };
  const code = envelope.exit_code;
  if (code === NOT_PERMITTED) {
    return new ToolLayerError('E3210', `${script} may not run its program here (exit code 126).`, { details });
  }
  const ended = signal === undefined ? `exit code ${code}` : `signal ${signal}`;
  const hint = code === NOT_FOUND ? ' A program that it needs is not installed on this machine.' : '';
  return new ToolLayerError('E3108', `${script} failed with ${ended}.${hint}`, { details });
}

function codeOfSignal(signal: string | undefined): number {
  const numbers: Readonly<Record<string, number>> = constants.signals;
  return SIGNAL_BASE + (numbers[signal ?? ''] ?? 0);
}
