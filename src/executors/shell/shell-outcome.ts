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

/** What programs say when their scratch space is full; the layer itself cannot look into it. */
const DISK_FULL = /no space left on device|\bENOSPC\b/i;
/** How the gate tells of an allowed address that did not answer. */
const NOT_REACHED = /could not be reached/;
/** Refused addresses that a message names. */
const REFUSALS_TOLD = 3;

/** How a sandbox ended, with what the tool wrote; secrets are hidden already. */
export interface ShellEnd {
  readonly exit: SandboxExit;
  readonly output: CollectedOutput;
  readonly limits: SandboxLimits;
}

/**
 * The result of a run.
 * @throws E3101 when the tool never ran; E3107 when its sandbox was lost; E3102 when a limit ended it; E3104 when it failed and an address was refused to it;
 *   E3210 for exit code 126; E3108 for any other failure; E3501 when the manifest promises JSON and it wrote something else
 */
export function resultOf({ config, successCodes }: ShellPlan, end: ShellEnd): unknown {
  const { exit, output } = end;
  const envelope = envelopeOf(exit, output);
  if (exit.notStarted === true) {
    throw new ToolLayerError('E3101', 'The sandbox of the tool could not be set up, so the tool did not run.', {
      cause: new Error(output.stderr),
    });
  }
  if (exit.lost === true) {
    throw new ToolLayerError('E3107', 'The sandbox of the tool was lost while the tool ran.', {
      details: { reached: true },
    });
  }
  checkLimits(end, envelope);
  if (exit.signal !== undefined || !successCodes.has(envelope.exit_code)) throw failed(envelope, end);
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
  throw limitReached(limit, bounds[limit], envelope);
}

const limitReached = (limit: string, bound: string, envelope: ShellOutputEnvelope): ToolLayerError =>
  new ToolLayerError('E3102', `The tool was stopped at its limit: ${bound}. Ask for less work at once.`, {
    details: { limit, envelope },
  });

function failed(envelope: ShellOutputEnvelope, { exit, limits }: ShellEnd): ToolLayerError {
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
  const refusals = exit.network?.refusals ?? [];
  const denied = refusals.filter(isDenied);
  if (denied.length > 0) return addressRefused(ended, denied, envelope);
  if (DISK_FULL.test(envelope.stderr)) return limitReached('disk', `${limits.diskMb} MB of scratch space`, envelope);
  const access = NO_ACCESS.exec(envelope.stderr)?.[0].toLowerCase();
  if (access === undefined) {
    const why = refusals[0] === undefined ? '' : ` Of its connections: ${refusals[0].why}.`;
    return new ToolLayerError('E3108', `The tool failed with ${ended}.${why}`, { details });
  }
  const message = `The tool failed with ${ended}: ${access}. It sees only the folders that the call may use.`;
  return new ToolLayerError('E3108', message, { details });
}

type Refusal = NonNullable<SandboxExit['network']>['refusals'][number];

/** A server that did not answer was allowed; what was asked for in no readable form has no address to grant. */
const isDenied = ({ target, why }: Refusal): boolean => target !== undefined && !NOT_REACHED.test(why);

/** The tool failed, and it was refused an address: most likely that is why, and the caller can do something about it. */
function addressRefused(ended: string, denied: readonly Refusal[], envelope: ShellOutputEnvelope): ToolLayerError {
  const refused = denied.map(({ target, why }) => ({ address: `${target?.host}:${target?.port}`, why }));
  const shown = [...new Set(refused.map(({ why }) => why))].slice(0, REFUSALS_TOLD).join('; ');
  const message =
    `The tool failed with ${ended} after connections were refused: ${shown}. ` +
    'Name the address in permissions.network of its manifest, in the capability token and in the agent sandbox context.';
  return new ToolLayerError('E3104', message, { details: { refused, envelope } });
}

function parsed({ stdout, truncated }: CollectedOutput): unknown {
  try {
    return JSON.parse(stdout) as unknown;
  } catch (cause) {
    const message = truncated ? 'The output of the tool was cut, so it is not whole JSON.' : 'The tool wrote no JSON.';
    throw new ToolLayerError('E3501', message, { cause });
  }
}
