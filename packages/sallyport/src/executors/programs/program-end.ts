import { constants } from 'node:os';
import type { CollectedOutput, OutputBounds, SandboxExit, SandboxLimits } from '@sallyport/sandbox';
import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Usage } from '../../domain/invocation/usage.ts';
import { hideSecrets } from '../../external/hide-secrets.ts';
import type { ProgramExit } from '../executor.port.ts';

/** Share of a call's output limit for stderr, and its maximum. */
const STDERR_SHARE = 0.25;
const STDERR_BYTES_MAX = 16 * KiB;

/** Exit codes of shells for a program that may not be executed or does not exist. */
const NOT_PERMITTED = 126;
const NOT_FOUND = 127;
const SIGNAL_BASE = 128;
const NO_ACCESS = /permission denied|no such file/i;

/** Programs' messages for full scratch space; the layer itself cannot measure it. */
const DISK_FULL = /no space left on device|\bENOSPC\b/i;
/** The gate's message for an allowed address that did not answer. */
const NOT_REACHED = /could not be reached/;
/** Most refused addresses that a message names. */
const REFUSALS_NAMED_MAX = 3;

/** Result of a program: a shell tool, or a script of a skill (002). Errors carry it as `details.envelope`. */
export interface ProgramEnvelope extends ProgramExit {
  readonly stdout: string;
  /** The end of stderr when it was cut. */
  readonly stderr: string;
}

/** How a program ended in its sandbox, with its output; secrets are hidden already. */
export interface ProgramEnd {
  readonly exit: SandboxExit;
  readonly output: CollectedOutput;
  readonly limits: SandboxLimits;
}

/** Wording about a program in messages. */
export interface ProgramWords {
  readonly kind: 'tool' | 'script';
  /** What failed, as the beginning of a sentence. */
  readonly name: string;
  /** The sentence for exit code 127. */
  readonly notFound: string;
}

/** Usage of a run in a sandbox, in the form of call records. */
export function usageOf({ cpuMs, memoryPeakMb, network, weakerLimits }: SandboxExit): Usage {
  return {
    // One ms of a whole core is one thousandth of a core for a second.
    cpuMillicoreSeconds: cpuMs,
    memoryPeakMb,
    networkBytesSent: network?.bytesSent ?? 0,
    networkBytesReceived: network?.bytesReceived ?? 0,
    ...(weakerLimits === undefined ? {} : { weakerLimits }),
  };
}

/** An envelope divides the call's bytes between the streams; otherwise stdout is the result and may use all. */
export function outputBounds(outputBytesMax: number, isEnvelope: boolean): OutputBounds {
  const stderrBytesMax = Math.min(STDERR_BYTES_MAX, Math.floor(outputBytesMax * STDERR_SHARE));
  return { stdoutBytesMax: isEnvelope ? outputBytesMax - stderrBytesMax : outputBytesMax, stderrBytesMax };
}

/** The output without the secrets of the call. */
export function withoutSecrets(output: CollectedOutput, secrets: ReadonlyMap<string, string>): CollectedOutput {
  const hide = hideSecrets(secrets);
  return { ...output, stdout: hide(output.stdout), stderr: hide(output.stderr) };
}

/**
 * The result of a program that succeeded.
 * @throws E3101 when it never ran; E3107 when its sandbox was lost; E3102 when a limit ended it; E3104 when it failed
 *   after an address was refused; E3210 for exit code 126; E3108 for any other failure
 */
export function envelopeOf(end: ProgramEnd, words: ProgramWords, successCodes: ReadonlySet<number>): ProgramEnvelope {
  const { exit, output } = end;
  const { stdout, stderr, truncated } = output;
  const envelope = { stdout, stderr, exit_code: exit.code ?? codeOfSignal(exit.signal), truncated };
  if (exit.notStarted === true) {
    const message = `The sandbox of the ${words.kind} could not be set up, so the ${words.kind} did not run.`;
    throw new ToolLayerError('E3101', message, { cause: new Error(stderr) });
  }
  if (exit.lost === true) {
    const message = `The sandbox of the ${words.kind} was lost while the ${words.kind} ran.`;
    throw new ToolLayerError('E3107', message, { details: { reached: true } });
  }
  checkLimits(end, words, envelope);
  if (exit.signal !== undefined || !successCodes.has(envelope.exit_code)) throw failed(end, words, envelope);
  return envelope;
}

function codeOfSignal(signal: string | undefined): number {
  const numbers: Readonly<Record<string, number>> = constants.signals;
  return SIGNAL_BASE + (numbers[signal ?? ''] ?? 0);
}

function checkLimits({ exit, output, limits }: ProgramEnd, { kind }: ProgramWords, envelope: ProgramEnvelope): void {
  const limit = output.flooded ? 'output' : exit.violation;
  if (limit === undefined) return;
  const bounds: Readonly<Record<typeof limit, string>> = {
    memory: `${limits.memoryMb} MB of memory`,
    processes: `${limits.processesMax} processes`,
    disk: `${limits.diskMb} MB in one file`,
    cpu: `${limits.cpuSecondsMax} s of processor time`,
    output: 'more output than is read',
  };
  throw limitReached(kind, { limit, bound: bounds[limit] }, envelope);
}

function limitReached(
  kind: ProgramWords['kind'],
  { limit, bound }: { readonly limit: string; readonly bound: string },
  envelope: ProgramEnvelope,
): ToolLayerError {
  const message = `The ${kind} was stopped at its limit: ${bound}. Ask for less work at once.`;
  return new ToolLayerError('E3102', message, { details: { limit, envelope } });
}

function failed({ exit, limits }: ProgramEnd, words: ProgramWords, envelope: ProgramEnvelope): ToolLayerError {
  const { name, kind } = words;
  const details = { envelope };
  const code = envelope.exit_code;
  if (code === NOT_PERMITTED) {
    return new ToolLayerError('E3210', `${name} may not run its program here (exit code 126).`, { details });
  }
  if (code === NOT_FOUND) return new ToolLayerError('E3108', words.notFound, { details });
  const ended = exit.signal === undefined ? `exit code ${code}` : `signal ${exit.signal}`;
  const refusals = exit.network?.refusals ?? [];
  const denied = refusals.filter(isDenied);
  if (denied.length > 0) return addressRefused(`${name} failed with ${ended}`, denied, envelope);
  if (DISK_FULL.test(envelope.stderr)) {
    return limitReached(kind, { limit: 'disk', bound: `${limits.diskMb} MB of scratch space` }, envelope);
  }
  const access = NO_ACCESS.exec(envelope.stderr)?.[0].toLowerCase();
  if (access === undefined) {
    const why = refusals[0] === undefined ? '' : ` Of its connections: ${refusals[0].why}.`;
    return new ToolLayerError('E3108', `${name} failed with ${ended}.${why}`, { details });
  }
  const message = `${name} failed with ${ended}: ${access}. It sees only the folders that the call may use.`;
  return new ToolLayerError('E3108', message, { details });
}

type Refusal = NonNullable<SandboxExit['network']>['refusals'][number];

/** A server that did not answer was allowed; an unreadable target has no address to grant. */
const isDenied = ({ target, why }: Refusal): boolean => target !== undefined && !NOT_REACHED.test(why);

/** The program failed after it was refused an address: most likely that is the cause, and the caller can change it. */
function addressRefused(failedWith: string, denied: readonly Refusal[], envelope: ProgramEnvelope): ToolLayerError {
  const refused = denied.map(({ target, why }) => ({ address: `${target?.host}:${target?.port}`, why }));
  const shown = [...new Set(refused.map(({ why }) => why))].slice(0, REFUSALS_NAMED_MAX).join('; ');
  const message =
    `${failedWith} after connections were refused: ${shown}. ` +
    'Name the address in permissions.network of its manifest, in the capability token and in the agent sandbox context.';
  return new ToolLayerError('E3104', message, { details: { refused, envelope } });
}
