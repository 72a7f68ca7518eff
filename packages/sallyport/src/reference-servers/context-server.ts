import { errorBody } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CallOwner } from '../domain/invocation/call-owner.ts';
import { type Shape, shapeOf } from '../domain/shape/shape.ts';
import type { ListedMcpTool } from '../registry/importer.port.ts';
import type { ContextServerParts } from './context/context-parts.ts';
import { CONTEXT_TOOLS, type ContextTool } from './context/tools.ts';

/** The reference context server (STA-04): what is known of tasks, for their owners alone. */
export interface ContextServer {
  /** Semantic version; another one where a tool changed. */
  readonly version: string;
  /** What the server says of its use. */
  readonly instructions: string;
  readonly tools: readonly ListedMcpTool[];
  /**
   * Calls a tool for the owner of the call. What the caller can mend is a result with `isError`.
   * @throws ToolLayerError E3309 for an unknown tool, and for arguments that do not fit its schema; E3812
   */
  call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    owner: CallOwner,
  ): Promise<Readonly<Record<string, unknown>>>;
}

const INSTRUCTIONS =
  'Keeps what is known of a task from one session to the next. Save snapshots with save_context_snapshot, name milestones with create_checkpoint, and read everything again with get_unified_context. The context of a session is that of the task with its id.';

/** Makes the context server over a store. */
export function createContextServer(parts: ContextServerParts): ContextServer {
  const tools = new Map(
    Object.entries(CONTEXT_TOOLS).map(([name, tool]) => [name, { ...tool, fits: shapeOf(tool.input) }]),
  );
  return {
    version: '1.0.0',
    instructions: INSTRUCTIONS,
    tools: Object.entries(CONTEXT_TOOLS).map(([name, tool]) => listed(name, tool)),
    call: async (name, args, owner) => {
      const tool = tools.get(name);
      if (tool === undefined) throw new ToolLayerError('E3309', 'The context server has no such tool. List its tools.');
      return run(parts, tool, args, owner);
    },
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
