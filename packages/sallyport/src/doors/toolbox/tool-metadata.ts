import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import { isSafeToRepeat, sideEffectOf } from '../../domain/tool/tool-version.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import type { ToolMetadata } from './toolbox-types.ts';

/**
 * The manifest of a tool with the changes of the agent's activation; undefined for a tool that does not exist for this
 * agent.
 */
export async function manifestOf(
  layer: ToolLayer,
  caller: Caller,
  toolName: string,
  version?: string,
): Promise<ToolManifest | undefined> {
  try {
    const range = version === undefined ? {} : { version };
    return (await layer.ask('tools.get', { tool_id: toolName, ...range }, caller)).manifest;
  } catch (thrown) {
    if (NONE.has(failureOf(thrown).code)) return undefined;
    throw thrown;
  }
}

/** Codes that mean "no such tool". E3801: not a valid tool name. E3813: the tool waits for an operator. */
const NONE: ReadonlySet<string> = new Set(['E3001', 'E3002', 'E3004', 'E3006', 'E3801', 'E3813']);

/** The facts that an agent weighs before it uses the tool. */
export function metadataOf(manifest: ToolManifest): ToolMetadata {
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
