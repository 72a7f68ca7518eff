import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Caller } from '../../domain/principal/principal.ts';
import { execute } from './execute.ts';
import { executeConfirmed } from './execute-confirmed.ts';
import { type ToolLists, toolLists } from './tool-lists.ts';
import { manifestOf, metadataOf } from './tool-metadata.ts';
import type {
  PlannedToolExecution,
  Toolbox,
  ToolboxOptions,
  ToolDefinition,
  ToolResult,
  TurnContext,
} from './toolbox-types.ts';

export type {
  CheckSupersede,
  ConfirmationRequest,
  Confirming,
  PlannedToolExecution,
  SupersedeDecision,
  Toolbox,
  ToolboxOptions,
  ToolDefinition,
  ToolMetadata,
  ToolResult,
  TurnContext,
} from './toolbox-types.ts';

/** Default limit of executions in one batch (004 §11). */
const BATCH_MAX = 10;
/** Default limit of the wait for a confirmed call, in ms (004 §11). */
const CONFIRM_TIMEOUT_MS = 30_000;

/** The toolbox of one agent over any layer. Disposing it ends the subscription to changes. */
export function createToolbox(options: ToolboxOptions): Toolbox {
  const { layer, token, maxBatchSize = BATCH_MAX, confirmTimeoutMs = CONFIRM_TIMEOUT_MS } = options;
  const caller: Caller = { door: 'library', ...(token === undefined ? {} : { token }), ...options.caller };
  const lists = toolLists(layer, caller);
  const parts = { layer, caller };
  const { turnGroupId, checkSupersede } = options;
  const standing: TurnContext = {
    ...(turnGroupId === undefined ? {} : { turnGroupId }),
    ...(checkSupersede === undefined ? {} : { checkSupersede }),
  };
  const executeOne: Toolbox['execute'] = (planned, turn) => execute(parts, planned, { ...standing, ...turn });
  return {
    execute: executeOne,
    executeBatch: (planned, turn) => executeBatch(executeOne, planned, turn, maxBatchSize),
    executeConfirmed: (confirmation, confirming = {}) =>
      executeConfirmed(parts, confirmation, confirming, confirmTimeoutMs),
    ...lookUps(parts, lists),
    readOverflow: (invocation_id, offset = 0) =>
      layer.ask('invocations.overflow', { invocation_id, offset, own: true }, caller),
    ...takingBack(parts),
    [Symbol.dispose]: lists.close,
  };
}

async function executeBatch(
  executeOne: Toolbox['execute'],
  planned: readonly PlannedToolExecution[],
  turn: TurnContext | undefined,
  maxBatchSize: number,
): Promise<readonly ToolResult[]> {
  if (planned.length > maxBatchSize) throw tooMany(planned.length, maxBatchSize);
  const results: ToolResult[] = [];
  for (const each of planned) {
    const result = await executeOne(each, turn);
    results.push(result);
    // A turn is given up as a whole.
    if (result.supersede === 'SUPERSEDE') break;
    if (!result.success && each.critical !== false) break;
  }
  return results;
}

const tooMany = (count: number, max: number): ToolLayerError =>
  new ToolLayerError('E3810', `${count} executions are more than the ${max} of one batch. Split them.`);

type Parts = Parameters<typeof execute>[0];

function lookUps({ layer, caller }: Parts, lists: ToolLists) {
  const find = async (name: string, list: 'agent-enabled' | 'tenant-available') =>
    (await lists.get(list)).find((tool) => tool.name === name);
  return {
    async getMetadata(toolName) {
      const manifest = await manifestOf(layer, caller, toolName);
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
      const manifest = await manifestOf(layer, caller, toolName);
      return manifest === undefined ? enabled : { ...enabled, parameters_schema: manifest.parameters_schema };
    },
  } satisfies Partial<Toolbox>;
}

function takingBack({ layer, caller }: Parts) {
  return {
    getSideEffect: (invocationId) => layer.ask('side-effects.get', { invocation_id: invocationId }, caller),
    compensate: (invocationId, args) => {
      const said = args === undefined ? {} : { arguments: { ...args } };
      return layer.ask('side-effects.compensate', { invocation_id: invocationId, ...said }, caller);
    },
    compensateAll: (of, { continueOnFailure = false } = {}) => {
      const which = 'turnGroupId' in of ? { turn_group_id: of.turnGroupId } : { invocation_ids: [...of.invocationIds] };
      return layer.ask('side-effects.compensate-all', { ...which, continue_on_failure: continueOnFailure }, caller);
    },
  } satisfies Partial<Toolbox>;
}
