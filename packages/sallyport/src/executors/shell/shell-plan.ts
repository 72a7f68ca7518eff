// Everything that is the same for all calls of a tool is computed once.

import type { SandboxSpec } from '@sallyport/sandbox';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { CallFolder } from '../../bridges/call-folders.ts';
import type { ExecutorCall } from '../executor.port.ts';
import { CHECKPOINTS_VARIABLE, type ProgramCheckpoints } from '../programs/program-checkpoints.ts';
import { sandboxLimits } from '../sandbox-limits.ts';
import { fillCommand, fixedText, parameterText, parseTemplate, type Template } from './command/argument-template.ts';
import { checkedMounts, checkWorkingFolder } from './command/granted-folders.ts';
import { parameterPlaces } from './command/parameter-places.ts';
import { SHELL_BOUNDS } from './settings.ts';
import type { ShellConfig } from './shell-config.ts';

/** A shell tool prepared for calls. */
export interface ShellPlan {
  readonly config: ShellConfig;
  readonly command: readonly Template[];
  /** Number of leading words of the command without parameters: the program, and possibly more. */
  readonly fixedWords: number;
  /** True when the program can run others and a parameter is not known to be safe in its place. */
  readonly isOpen: boolean;
  /** Name of the parameter passed to stdin. */
  readonly stdinParameter: string | undefined;
  readonly successCodes: ReadonlySet<number>;
}

const plans = new WeakMap<ToolManifest, ShellPlan>();

/** The plan of a registered tool; its manifest has no faults. */
export function planOf(manifest: ToolManifest): ShellPlan {
  const known = plans.get(manifest);
  if (known !== undefined) return known;
  const config = manifest.executor.config as ShellConfig;
  const command = config.command.map(parseTemplate);
  const firstFilled = command.findIndex((template) => fixedText(template) === undefined);
  const plan: ShellPlan = {
    config,
    command,
    fixedWords: firstFilled === -1 ? command.length : firstFilled,
    isOpen: parameterPlaces(config, command, manifest.parameters_schema).open.length > 0,
    stdinParameter: parseTemplate(config.stdin ?? 'none').names[0],
    successCodes: new Set(config.success_exit_codes ?? [0]),
  };
  plans.set(manifest, plan);
  return plan;
}

/** What a program finds in its environment; each is absent where the call has none. */
interface GivenToProgram {
  readonly checkpoints?: Pick<ProgramCheckpoints, 'mark'> | undefined;
  readonly folder?: Pick<CallFolder, 'path' | 'variables'> | undefined;
}

/**
 * The sandbox specification of a call.
 * @throws E3505 for a value that no argument may have; E3105 for a working directory outside the granted folders, and
 *   for a granted folder that leads elsewhere than when it was granted
 */
export function specOf(plan: ShellPlan, call: ExecutorCall, given: GivenToProgram = {}): SandboxSpec {
  const { config } = plan;
  const { checkpoints, folder } = given;
  const { tool, parameters, grant, secrets, environment } = call;
  const isolation = tool.manifest.execution_config?.isolation;
  const [program = '', ...rest] = fillCommand(plan.command, parameters, config.allow_leading_dash === true);
  checkWorkingFolder(config.working_directory, grant);
  return {
    label: tool.manifest.tool_id,
    command: [program, ...rest],
    environment: {
      ...config.environment,
      ...environment,
      ...Object.fromEntries(secrets),
      ...(checkpoints === undefined ? {} : { [CHECKPOINTS_VARIABLE]: checkpoints.mark }),
      ...folder?.variables,
    },
    ...(config.working_directory === undefined ? {} : { workingDirectory: config.working_directory }),
    mounts: checkedMounts(grant),
    ...(folder === undefined ? {} : { own: [folder.path] }),
    network: grant.network,
    ...(isolation === undefined ? {} : { isolation }),
    limits: sandboxLimits(call, SHELL_BOUNDS),
  };
}

/** The tool's standard input; undefined for none. */
export function inputOf(plan: ShellPlan, { parameters }: ExecutorCall): string | undefined {
  return inputText(plan, parameters);
}

/** As above, for parameters that do not belong to a call yet. */
export function inputText(
  { config, stdinParameter }: ShellPlan,
  parameters: ExecutorCall['parameters'],
): string | undefined {
  if (config.stdin === 'json') return JSON.stringify(parameters);
  return stdinParameter === undefined ? undefined : stdinText(stdinParameter, parameters);
}

function stdinText(name: string, parameters: ExecutorCall['parameters']): string | undefined {
  const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  return typeof value === 'string' ? value : parameterText(name, parameters);
}
