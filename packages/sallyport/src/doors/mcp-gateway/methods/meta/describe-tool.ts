import type { ToolGetRequest } from '../../../../../api/schemas/registry.ts';
import type { ToolManifest } from '../../../../../api/schemas/tool-manifest.ts';
import type { Caller } from '../../../../domain/principal/principal.ts';
import { sideEffectOf } from '../../../../domain/tool/tool-version.ts';
import type { ToolLayer } from '../../../../operations/tool-layer.ts';
import type { Params } from '../../../json-rpc.ts';
import { toolView } from '../tool-view.ts';

/**
 * One tool in full: as its own listing shows it, and with what only the layer knows. The arguments were checked before.
 */
export async function describeTool(layer: ToolLayer, given: Params, caller: Caller): Promise<object> {
  const { name, version } = given;
  const input = { tool_id: name, ...(version === undefined ? {} : { version }) } as ToolGetRequest;
  const { manifest, state, versions, warnings } = await layer.ask('tools.get', input, caller);
  // Icons are for people, and may be very large.
  const { title, inputSchema, outputSchema, annotations, _meta } = toolView(manifest, 'modern');
  return {
    name: manifest.tool_id,
    version: manifest.version,
    versions,
    state,
    ...(title === undefined ? {} : { title }),
    description: manifest.description,
    input_schema: inputSchema,
    ...(outputSchema === undefined ? {} : { output_schema: outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(_meta === undefined ? {} : { _meta }),
    side_effect: sideEffectOf(manifest),
    needs_confirmation: needsConfirmation(manifest),
    warnings,
  };
}

/** True when a person is asked before the tool runs, by confirmation or by approval. */
export function needsConfirmation({ requires_confirmation, execution_config }: ToolManifest): boolean {
  return requires_confirmation === true || execution_config?.requires_approval === true;
}
