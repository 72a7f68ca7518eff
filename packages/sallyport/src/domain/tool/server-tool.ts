import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { nameInUpstream, SERVER_METHODS, type ServerMethod } from './server-methods.ts';

/** Name under which the embedding program offers resources and prompts, as upstreams do under theirs; none has it. */
export const PROGRAM = 'program';

/** The upstream of a tool, or the embedding program, and the server's own name for the tool. */
export interface ServerTool {
  readonly upstream: string;
  readonly tool: string;
}

/** Id of the tool by which a request is made of the embedding program. */
export const programToolId = (method: ServerMethod): string => `${PROGRAM}__${nameInUpstream(method)}`;

const METHODS = new Map(SERVER_METHODS.map((method) => [programToolId(method), method]));

/** Where a tool comes from; undefined when from no upstream, and for functions of the program. */
export function serverToolOf({ tool_id, executor }: ToolManifest): ServerTool | undefined {
  const { kind, config } = executor;
  if (kind === 'mcp' && config?.['upstream'] !== undefined)
    return { upstream: String(config['upstream']), tool: String(config['tool']) };
  const method = kind === 'native' ? METHODS.get(tool_id) : undefined;
  return method === undefined ? undefined : { upstream: PROGRAM, tool: method };
}
