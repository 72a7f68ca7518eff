import { errorBody } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { UpstreamDefinition } from '../../api/schemas/upstream.ts';
import type { CallOwner } from '../domain/invocation/call-owner.ts';
import { type Shape, shapeOf } from '../domain/shape/shape.ts';
import type { EmbeddedServer } from '../mcp-servers/embedded-server.port.ts';
import type { ListedMcpTool } from '../registry/importer.port.ts';
import type { ContextServerParts } from './context/context-parts.ts';
import { CONTEXT_TOOLS, type ContextTool } from './context/tools.ts';

/** A checkpoint more does no harm, and names no owner's data of others. */
const POLICY_OF = { nothing: 'pure', 'the same': 'idempotent', more: 'irreversible' } as const;

/** What the layer itself knows of the effects of these tools: it ships with them. */
export const CONTEXT_OVERRIDES: NonNullable<UpstreamDefinition['overrides']> = Object.fromEntries(
  Object.entries(CONTEXT_TOOLS).map(([name, { leaves }]) => [name, { side_effect_policy: POLICY_OF[leaves] }]),
);

const INSTRUCTIONS =
  'Keeps what is known of a task from one session to the next. Save snapshots with save_context_snapshot, name milestones with create_checkpoint, and read everything again with get_unified_context. The context of a session is that of the task with its id.';

/** The reference context server (STA-04): what is known of tasks, for their owners alone. */
export function createContextServer(parts: ContextServerParts): EmbeddedServer {
  const tools = new Map(
    Object.entries(CONTEXT_TOOLS).map(([name, tool]) => [name, { ...tool, fits: shapeOf(tool.input) }]),
  );
  return {
    version: '1.0.0',
    instructions: INSTRUCTIONS,
    templates: [],
    tools: Object.entries(CONTEXT_TOOLS).map(([name, tool]) => listed(name, tool)),
    call: async (name, args, owner) => {
      const tool = tools.get(name);
      if (tool === undefined) throw new ToolLayerError('E3309', 'The context server has no such tool. List its tools.');
      const answer = await run(parts, tool, args, owner);
      if (tool.leaves !== 'nothing') parts.onChanged(owner);
      return answer;
    },
    watch: () => ({ [Symbol.dispose]: () => {} }),
  };
}

async function run(
  parts: ContextServerParts,
  { fits, ...tool }: ContextTool & { readonly fits: Shape },
  args: Readonly<Record<string, unknown>>,
  owner: CallOwner,
): Promise<Readonly<Record<string, unknown>>> {
  if (!fits(args))
    throw new ToolLayerError('E3309', 'The arguments do not fit the input schema of the tool. Correct them.');
  try {
    const structuredContent = await tool.run(parts, owner, args);
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  } catch (thrown) {
    if (!(thrown instanceof ToolLayerError) || thrown.code === 'E3812') throw thrown;
    const error = errorBody(thrown.failure);
    return {
      content: [{ type: 'text', text: `${error.e_code}: ${error.message}` }],
      structuredContent: { error },
      isError: true,
    };
  }
}

const listed = (name: string, { title, description, input, output, leaves }: ContextTool): ListedMcpTool => ({
  name,
  title,
  description,
  inputSchema: { ...input },
  outputSchema: { ...output },
  annotations: {
    readOnlyHint: leaves === 'nothing',
    destructiveHint: false,
    idempotentHint: leaves !== 'more',
    openWorldHint: false,
  },
});
