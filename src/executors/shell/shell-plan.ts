// Hot path: what can be worked out once for a tool is not worked out for each call.
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { ToolLayerError } from '../../domain/error/tool-layer-error.ts';
import type { SandboxSpec } from '../../sandbox/driver.port.ts';
import type { ExecutorCall } from '../executor.port.ts';
import { fillCommand, parameterText, parseTemplate, type Template } from './argument-template.ts';
import { SHELL_BOUNDS } from './settings.ts';
import type { ShellConfig } from './shell-config.ts';

/** A shell tool, ready to be called. */
export interface ShellPlan {
  readonly config: ShellConfig;
  readonly command: readonly Template[];
  /** Name of the parameter that stdin gets. */
  readonly stdinParameter: string | undefined;
  readonly successCodes: ReadonlySet<number>;
}

const plans = new WeakMap<ToolManifest, ShellPlan>();

/** The plan of a registered tool; its manifest has no faults. */
export function planOf(manifest: ToolManifest): ShellPlan {
  const known = plans.get(manifest);
  if (known !== undefined) return known;
  const config = manifest.executor.config as ShellConfig;
  const plan: ShellPlan = {
    config,
    command: config.command.map(parseTemplate),
    stdinParameter: parseTemplate(config.stdin ?? 'none').names[0],
    successCodes: new Set(config.success_exit_codes ?? [0]),
  };
  plans.set(manifest, plan);
  return plan;
}

/**
 * What the sandbox shall run.
 * @throws E3505 for a value that no argument may have, E3105 for a working directory outside the grant
 */
export function specOf(plan: ShellPlan, { tool, parameters, grant, secrets }: ExecutorCall): SandboxSpec {
  const { config } = plan;
  const { timeoutMs, cpuMillicores, memoryMb } = grant.limits;
  const isolation = tool.manifest.execution_config?.isolation;
  const [program = '', ...rest] = fillCommand(plan.command, parameters, config.allow_leading_dash === true);
  checkFolder(config.working_directory, grant);
  return {
    label: tool.manifest.tool_id,
    command: [program, ...rest],
    environment: { ...config.environment, ...Object.fromEntries(secrets) },
    ...(config.working_directory === undefined ? {} : { workingDirectory: config.working_directory }),
    mounts: grant.filesystem,
    network: grant.network,
    ...(isolation === undefined ? {} : { isolation }),
    limits: {
      cpuMillicores,
      memoryMb,
      processesMax: SHELL_BOUNDS.processesMax,
      diskMb: SHELL_BOUNDS.diskMb,
      // All the time that the share gives until the end; where no share can be enforced, this holds alone.
      cpuSecondsMax: Math.ceil((timeoutMs / 1000) * Math.max(1, cpuMillicores / 1000)) + 1,
    },
  };
}

/** What the tool reads from its input; undefined for nothing. */
export function inputOf(plan: ShellPlan, { parameters }: ExecutorCall): string | undefined {
  return inputText(plan, parameters);
}

/** The same, for parameters that are not yet those of a call. */
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

function checkFolder(folder: string | undefined, { filesystem }: ExecutorCall['grant']): void {
  if (folder === undefined || folder === '/tmp') return;
  if (filesystem.some(({ path }) => isWithin(folder, path))) return;
  throw new ToolLayerError('E3105', `The working directory ${folder} lies in no folder that the call may use.`, {
    details: { path: folder },
  });
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}
