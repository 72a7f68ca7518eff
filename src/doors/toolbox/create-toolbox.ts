import type { ToolInvokeRequest, ToolInvokeResponse } from '../../../api/schemas/invocation.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { errorBody } from '../../domain/error/failure.ts';
import { failureOf, ToolLayerError } from '../../domain/error/tool-layer-error.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import { isSafeToRepeat, sideEffectOf } from '../../domain/tool/tool-version.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import { toolLists } from './tool-lists.ts';
import type {
  PlannedToolExecution,
  Toolbox,
  ToolboxOptions,
  ToolDefinition,
  ToolMetadata,
  ToolResult,
} from './toolbox-types.ts';

export type { PlannedToolExecution, Toolbox, ToolboxOptions, ToolDefinition, ToolMetadata, ToolResult };

/** Most executions of one batch when nobody says (004 §11). */
const BATCH_MAX = 10;

/** The toolbox of one agent over any layer. Dispose it to stop listening for changes. */
export function createToolbox({ layer, token, caller, maxBatchSize = BATCH_MAX }: ToolboxOptions): Toolbox {
  const asking: Caller = { door: 'library', ...(token === undefined ? {} : { token }), ...caller };
  const lists = toolLists(layer, asking);
  const execute = (planned: PlannedToolExecution): Promise<ToolResult> => run(layer, asking, planned);
  const find = async (name: string, list: 'agent-enabled' | 'tenant-available') =>
    (await lists.get(list)).find((tool) => tool.name === name);
  return {
    execute,
    async executeBatch(planned) {
      if (planned.length > maxBatchSize) throw tooMany(planned.length, maxBatchSize);
      const results: ToolResult[] = [];
      for (const each of planned) {
        const result = await execute(each);
        results.push(result);
        if (!result.success && each.critical !== false) break;
      }
      return results;
    },
    async getMetadata(toolName) {
      const manifest = await manifestOf(layer, asking, toolName);
      return manifest === undefined ? undefined : metadataOf(manifest);
    },
    isAvailable: async (toolName) => (await find(toolName, 'agent-enabled')) !== undefined,
    listAvailable: async () => (await lists.get('agent-enabled')).map(({ name }) => name),
    getUnavailableTools: () => lists.get('agent-unavailable'),
    isTenantAvailable: async (toolName) =>
      ((await find(toolName, 'agent-enabled')) ?? (await find(toolName, 'tenant-available'))) !== undefined,
    async getToolDefinition(toolName): Promise<ToolDefinition | undefined> {
      const enabled = await find(toolName, 'agent-enabled');
      if (enabled === undefined) return find(toolName, 'tenant-available');
      const manifest = await manifestOf(layer, asking, toolName);
      return manifest === undefined ? enabled : { ...enabled, parameters_schema: manifest.parameters_schema };
    },
    [Symbol.dispose]: lists.close,
  };
}

const tooMany = (count: number, max: number): ToolLayerError =>
  new ToolLayerError('E3810', `${count} executions are more than the ${max} of one batch. Split them.`);

async function run(layer: ToolLayer, caller: Caller, planned: PlannedToolExecution): Promise<ToolResult> {
  const { toolName, args, version, idempotencyKey } = planned;
  const request: ToolInvokeRequest = {
    tool_id: toolName,
    ...(args === undefined ? {} : { parameters: { ...args } }),
    ...(version === undefined ? {} : { tool_version: version }),
    ...(idempotencyKey === undefined ? {} : { execution_options: { idempotency_key: idempotencyKey } }),
  };
  try {
    return resultOf(toolName, await layer.ask('tool.invoke', request, caller));
  } catch (thrown) {
    return { toolName, status: 'error', success: false, error: errorBody(failureOf(thrown)) };
  }
}

function resultOf(toolName: string, response: ToolInvokeResponse): ToolResult {
  const { invocation_id, status, result, error, warnings, execution_metadata } = response;
  const success = status === 'success';
  return {
    toolName,
    status: success ? (execution_metadata.cached ? 'cached' : 'success') : 'error',
    success,
    callStatus: status,
    ...('result' in response ? { data: result } : {}),
    ...(error === undefined ? {} : { error }),
    ...(warnings === undefined ? {} : { warnings }),
    invocationId: invocation_id,
    executionTimeMs: execution_metadata.duration_ms,
  };
}

/** Undefined for a tool that does not exist for this agent. */
async function manifestOf(layer: ToolLayer, caller: Caller, toolName: string): Promise<ToolManifest | undefined> {
  try {
    return (await layer.ask('tools.get', { tool_id: toolName }, caller)).manifest;
  } catch (thrown) {
    const { code } = failureOf(thrown);
    // E3801: what cannot be the name of a tool is none. E3813: it waits for an operator.
    if (code === 'E3001' || code === 'E3004' || code === 'E3801' || code === 'E3813') return undefined;
    throw thrown;
  }
}

function metadataOf(manifest: ToolManifest): ToolMetadata {
  const { tool_id, confirmation_prompt, compensation_tool_id, category, tags, execution_config } = manifest;
  const sideEffectPolicy = sideEffectOf(manifest);
  return {
    name: tool_id,
    sideEffectPolicy,
    requiresConfirmation: manifest.requires_confirmation ?? false,
    ...(confirmation_prompt === undefined ? {} : { confirmationPrompt: confirmation_prompt }),
    requiresApproval: execution_config?.requires_approval ?? false,
    ...(compensation_tool_id === undefined ? {} : { compensationTool: compensation_tool_id }),
    ...(category === undefined ? {} : { category }),
    tags: tags ?? [],
    isIrreversible: sideEffectPolicy === 'irreversible',
    isSafeToRetry: isSafeToRepeat(manifest),
  };
}
