import { constants } from 'node:os';
import { MiB } from '@sallyport/std/bytes';
import { messageOf } from '@sallyport/std/error/message-of';
import type { SandboxExit, SandboxLimits, SandboxProcess, SandboxSpec } from '../../driver.port.ts';
import { EGRESS_DEFAULTS, type EgressRun } from '../../egress-gate.ts';
import { killOnDispose } from '../../kill-on-dispose.ts';
import { agentLink, type ToolEnd } from './agent/agent-link.ts';
import { type OutputStream, outputStream } from './agent/output-stream.ts';
import type { StartMessage } from './agent/start-message.ts';
import { within } from './agent/within.ts';
import type { GuestMachine, MachineEnd } from './machine.ts';
import { MICROVM_BOUNDS } from './settings.ts';

/** Shells report a signal as 128 + its number. */
const SIGNAL_BASE = 128;

/**
 * Runs one job in a machine, which ends with it. A job that the guest refuses ends as not started, with the guest's
 * message on stderr.
 */
export async function runJob(
  machine: GuestMachine,
  spec: SandboxSpec,
  way: EgressRun | undefined,
  { bytes, mark }: StartMessage,
): Promise<SandboxProcess> {
  const { control, stdin, stdout, stderr } = machine.channels;
  const outputs = [outputStream(stdout, mark), outputStream(stderr, mark)] as const;
  const link = agentLink(control);
  let refusal: string | undefined;
  let killed = false;
  let over = false;
  let deadline: NodeJS.Timeout | undefined;
  const endAll = (): void => {
    if (over) return;
    killed = true;
    machine.kill();
  };
  stdin.on('error', ignoreBrokenPipe);
  stdin.resume();
  const begun = within(MICROVM_BOUNDS.startTimeoutMs, link.start(bytes), 'the guest does not start its job').catch(
    (error: unknown) => {
      refusal = messageOf(error);
      outputs[1].stream.unshift(`${refusal}\n`);
      machine.kill();
    },
  );
  const exited = (async (): Promise<SandboxExit> => {
    const tool = await link.ended;
    if (tool !== undefined) await drained(outputs);
    over = true;
    clearTimeout(deadline);
    machine.kill();
    const [end] = await Promise.all([machine.gone, way?.close(killed ? 0 : EGRESS_DEFAULTS.drainMs)]);
    for (const channel of [control, stdin, stdout, stderr]) channel.destroy();
    const network = way === undefined ? {} : { network: way.usage() };
    return { ...exitOf({ tool, end, killed, refused: refusal !== undefined, limits: spec.limits }), ...network };
  })();
  await begun;
  return killOnDispose({
    stdin,
    stdout: outputs[0].stream,
    stderr: outputs[1].stream,
    exited,
    kill(graceMs = 0) {
      if (over) return;
      if (graceMs <= 0) return endAll();
      link.stop();
      clearTimeout(deadline);
      deadline = setTimeout(endAll, graceMs);
    },
  });
}

/** The tool has ended: the data left in its pipes and in the machine is read. */
async function drained(outputs: readonly OutputStream[]): Promise<void> {
  for (const output of outputs) output.drain();
  const complete = Promise.all(outputs.map((output) => output.complete));
  await within(MICROVM_BOUNDS.drainTimeoutMs, complete, 'the output ends').catch(ignoreBrokenPipe);
}

interface EndParts {
  readonly tool: ToolEnd | undefined;
  readonly end: MachineEnd;
  readonly killed: boolean;
  readonly refused: boolean;
  readonly limits: SandboxLimits;
}

/** The agent's counts are the tool's own; otherwise the machine monitor's total usage. */
function exitOf({ tool, end, killed, refused, limits }: EndParts): SandboxExit {
  const { usage } = end;
  if (tool === undefined) {
    const used = { cpuMs: usage?.cpuMs ?? 0, memoryPeakMb: usage?.memoryPeakMb ?? 0 };
    if (refused && !killed) return { code: 1, notStarted: true, ...used };
    if (killed) return { signal: 'SIGKILL', ...used };
    // The limit around the machine is wider than the tool's own, so the machine as a whole was too big.
    if ((usage?.oomKills ?? 0) > 0) return { signal: 'SIGKILL', violation: 'memory', ...used };
    return { lost: true, ...used };
  }
  const name = SIGNAL_NAMES.get(tool.status - SIGNAL_BASE);
  const violation = violationOf(tool, name, limits);
  return {
    ...(name === undefined ? { code: tool.status } : { signal: name }),
    ...(violation === undefined ? {} : { violation }),
    cpuMs: tool.cpuMs,
    memoryPeakMb: tool.memoryPeakBytes / MiB,
  };
}

function violationOf(tool: ToolEnd, signal: string | undefined, limits: SandboxLimits): SandboxExit['violation'] {
  if (tool.oomKills > 0) return 'memory';
  if (signal === 'SIGXFSZ') return 'disk';
  const cpuSpent = tool.cpuMs >= (limits.cpuSecondsMax ?? Number.POSITIVE_INFINITY) * 1000;
  if (signal === 'SIGXCPU' || (signal === 'SIGKILL' && cpuSpent)) return 'cpu';
  return tool.status !== 0 && tool.forksRefused > 0 ? 'processes' : undefined;
}

const SIGNAL_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name]),
);

/** A tool that does not read its input is no fault of the layer; its exit says what happened. */
function ignoreBrokenPipe(): void {}
