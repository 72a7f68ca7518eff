import {
  collectOutput,
  type IsolationLevel,
  isAsStrong,
  runtimeMounts,
  type SandboxDriver,
  type SandboxSpec,
} from '@sallyport/sandbox';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { hideSecrets } from '../../external/hide-secrets.ts';
import { abortReason } from '../abort-reason.ts';
import type { ExecutorCall, ExecutorOutcome } from '../executor.port.ts';
import { programCheckpoints } from '../programs/program-checkpoints.ts';
import { usageOf } from '../programs/program-end.ts';
import { sandboxLimits } from '../sandbox-limits.ts';
import { moduleConfigOf } from './module-config.ts';
import { moduleResultOf } from './module-outcome.ts';
import { INTERPRETER_PROGRAM } from './module-programs/interpreter-program.ts';
import { NODE_PROGRAM } from './module-programs/node-program.ts';
import type { FindSource } from './module-source.ts';
import { MODULE_BOUNDS } from './settings.ts';

/** Drivers that run modules. */
export interface ModuleDrivers {
  /** Runs JavaScript (`supports.programs` javascript): for modules that ask for no more than an interpreter. */
  readonly interpreter: SandboxDriver;
  /** Runs Node: for modules that ask for more, and where there is no interpreter. */
  readonly processes: SandboxDriver;
  /** Least isolation of every module, whatever its manifest says. */
  readonly atLeast: IsolationLevel;
}

/**
 * Runs the function of a module in a sandbox of its own.
 * @throws E3901 for a source that no longer exists, and the errors of `moduleResultOf`
 */
export async function runModule(
  drivers: ModuleDrivers,
  find: FindSource,
  call: ExecutorCall,
  signal: AbortSignal,
): Promise<ExecutorOutcome> {
  if (signal.aborted) throw abortReason(signal);
  const source = sourceOf(find, call);
  // A module whose source does not name them cannot ask for them.
  const checkpoints = source.includes('checkpoints') ? programCheckpoints(call.checkpoints) : undefined;
  const input = inputOf(source, call, checkpoints?.mark, await sessionOf(source, call));
  const { driver, spec } = await placeOf(drivers, call);
  await using running = await driver.start(spec);
  const stop = (): void => running.kill();
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) stop();
    const { outputBytesMax } = call.grant.limits;
    const collected = collectOutput(checkpoints?.over(running, `${input}\n`) ?? running, {
      stdoutBytesMax: outputBytesMax + MODULE_BOUNDS.envelopeBytes,
      stderrBytesMax: MODULE_BOUNDS.consoleBytesMax,
    });
    if (checkpoints === undefined) running.stdin.end(input);
    const [exit, output] = await Promise.all([running.exited, collected]);
    const usage = usageOf(exit);
    call.onUsage?.(usage);
    if (signal.aborted) throw abortReason(signal);
    const hide = hideSecrets(call.secrets);
    const hidden = { ...output, stdout: hide(output.stdout), stderr: hide(output.stderr) };
    const result = moduleResultOf({ toolId: call.tool.manifest.tool_id, exit, output: hidden, limits: spec.limits });
    return { result, usage };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** @throws ToolLayerError E3901 for a source that no longer exists */
function sourceOf(find: FindSource, { tool }: ExecutorCall): string {
  const found = find(moduleConfigOf(tool.manifest).module);
  if ('source' in found) return found.source;
  throw new ToolLayerError('E3901', `The module of ${tool.manifest.tool_id} cannot be run: ${found.problem}.`);
}

/** All data of the call goes through stdin, none on a command line. One line of JSON. */
function inputOf(source: string, call: ExecutorCall, mark: string | undefined, session: object | undefined): string {
  const { tool, invocationId, principal, attempt, secrets, parameters, documents = [] } = call;
  const { format = 'module', export: name = 'default' } = moduleConfigOf(tool.manifest);
  const context = { invocationId, principal, attempt, secrets: [...secrets], documents, session };
  const { bytes: _bytes, ...restored } = (mark === undefined ? undefined : call.checkpoints?.restored) ?? {};
  return JSON.stringify({ source, format, name, parameters, context, mark, restored });
}

/** Undefined for a function that may not read it; read before the function runs, since nothing is sent to it later. */
async function sessionOf(source: string, { sessionContext }: ExecutorCall): Promise<object | undefined> {
  // A module whose source does not name it cannot ask for it.
  if (sessionContext === undefined || !source.includes('sessionContext')) return undefined;
  return { context: await sessionContext() };
}

interface Place {
  readonly driver: SandboxDriver;
  readonly spec: SandboxSpec;
}

async function placeOf({ interpreter, processes, atLeast }: ModuleDrivers, call: ExecutorCall): Promise<Place> {
  const { tool_id: label, execution_config } = call.tool.manifest;
  const asked = execution_config?.isolation ?? atLeast;
  const demanded = isAsStrong(asked, atLeast) ? asked : atLeast;
  const shared = { label, network: [], limits: sandboxLimits(call, MODULE_BOUNDS) };
  if (isAsStrong(interpreter.isolation, demanded) && (await interpreter.probe()).works) {
    return {
      driver: interpreter,
      spec: { ...shared, command: ['js', INTERPRETER_PROGRAM], environment: {}, mounts: [] },
    };
  }
  const command: SandboxSpec['command'] = [process.execPath, '--input-type=module', '--eval', NODE_PROGRAM];
  const mounts = runtimeMounts(command);
  // The interpreter knows only UTC too.
  return { driver: processes, spec: { ...shared, command, environment: { TZ: 'UTC' }, mounts, isolation: demanded } };
}
