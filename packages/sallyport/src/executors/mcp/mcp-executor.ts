import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Fault } from '../../../api/schemas/error.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { NO_USAGE } from '../../domain/invocation/usage.ts';
import { LISTED_MEMBERS } from '../../domain/tool/listed-members.ts';
import { isServerMethod } from '../../domain/tool/server-methods.ts';
import { isSafeToRepeat, sideEffectOf } from '../../domain/tool/tool-version.ts';
import { type HideSecrets, hideInValue, hideSecrets, hidingLogs } from '../../external/hide-secrets.ts';
import type { Upstreams } from '../../mcp-servers/upstreams.ts';
import type { Executor, ExecutorCall, ExecutorOutcome } from '../executor.port.ts';
import { neverAsks } from '../never-asks.ts';
import { callOrFollow } from './call-or-follow.ts';
import { serverCheckpoints } from './server-checkpoints.ts';

const UPSTREAM_NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,39}$/;
const CONFIG_MEMBERS: ReadonlySet<string> = new Set(['upstream', 'tool', 'server_version', ...LISTED_MEMBERS]);

/**
 * Runs tools of upstream MCP servers (EXE-07). The result is the upstream's `CallToolResult` unchanged; an error result
 * is marked as the tool's own error (EXE-12).
 */
export function createMcpExecutor(upstreams: Pick<Upstreams, 'call' | 'follow' | 'cancelTask'>): Executor {
  const run = async (call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome> => {
    const { upstream, tool } = call.tool.manifest.executor.config as { upstream: string; tool: string };
    // A server may echo the credentials of its connection (PRM-11).
    const hide = call.secrets.size === 0 ? undefined : hideSecrets(call.secrets);
    const checkpoints = serverCheckpoints(call);
    let rounded: readonly string[] = [];
    const options = {
      signal,
      invocationId: call.invocationId,
      leavesTraces: sideEffectOf(call.tool.manifest) !== 'pure',
      caller: call,
      checkpoints,
      ...(call.meta === undefined ? {} : { meta: call.meta }),
      ...questionsOf(call),
      ...progressOf(call, hide),
      ...logsOf(call, hide),
      onRounded(places: readonly string[]): void {
        rounded = places;
      },
    };
    // A later run may begin as soon as this one is over.
    const answer = await callOrFollow(upstreams, { call, upstream, tool, options }).finally(checkpoints.settled);
    if (answer === 'later') return { result: undefined, later: true, usage: NO_USAGE };
    const result = hide === undefined ? answer : hideInValue(answer, hide);
    // Only a tool of the server reports errors this way; a result of another request may have any member.
    return result.isError === true && !isServerMethod(tool)
      ? { result, toolError: true, usage: NO_USAGE }
      : { result, usage: NO_USAGE, ...roundedAt(rounded, hide) };
  };
  return {
    kind: 'mcp',
    owns: ({ manifest }) => manifest.executor.kind === 'mcp',
    configFaults,
    isRetryable: ({ manifest }) => isSafeToRepeat(manifest),
    ...neverAsks(run),
  };
}

function roundedAt(places: readonly string[], hide: HideSecrets | undefined): Pick<ExecutorOutcome, 'rounded'> {
  if (places.length === 0) return {};
  return { rounded: hide === undefined ? places : places.map(hide) };
}

function questionsOf({ whileAsking, onUnasked }: ExecutorCall): Pick<ExecutorCall, 'whileAsking' | 'onUnasked'> {
  return { ...(whileAsking === undefined ? {} : { whileAsking }), ...(onUnasked === undefined ? {} : { onUnasked }) };
}

function progressOf({ onProgress }: ExecutorCall, hide: HideSecrets | undefined): Pick<ExecutorCall, 'onProgress'> {
  if (onProgress === undefined) return {};
  if (hide === undefined) return { onProgress };
  return {
    onProgress: ({ message, ...progress }) =>
      onProgress(message === undefined ? progress : { ...progress, message: hide(message) }),
  };
}

function logsOf({ logs }: ExecutorCall, hide: HideSecrets | undefined): Pick<ExecutorCall, 'logs'> {
  if (logs === undefined) return {};
  return { logs: hide === undefined ? logs : hidingLogs(logs, hide) };
}

function configFaults({ executor }: ToolManifest): readonly Fault[] {
  const config = executor.config ?? {};
  const faults: Fault[] = [];
  if (typeof config['upstream'] !== 'string' || !UPSTREAM_NAME.test(config['upstream'])) {
    faults.push(fault('upstream', 'pattern', 'must be the name of an upstream', 'See the list of upstreams.'));
  }
  if (typeof config['tool'] !== 'string' || config['tool'] === '') {
    faults.push(fault('tool', 'minLength', 'must be the name of a tool as its server lists it', 'Add this member.'));
  }
  for (const member of Object.keys(config)) {
    if (CONFIG_MEMBERS.has(member)) continue;
    faults.push(fault(member, 'additionalProperties', 'is not a setting of an MCP tool', 'Remove this member.'));
  }
  return faults;
}

function fault(member: string, keyword: string, message: string, hint: string): Fault {
  return { path: pointerTo('/executor/config', member), code: 'E3008', keyword, message, hint };
}
