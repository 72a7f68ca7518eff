import type { Params } from '../json-rpc.ts';
import type { Era } from '../mcp-protocol.ts';
import { ALL_OFFERS } from './servers/introduce.ts';
import type { ToolsMode } from './settings.ts';
import { withTaskCapabilities } from './tasks/task-capabilities.ts';

const CHECKED =
  'Every tool call is checked, bounded and recorded. A refused call answers with a [tool_error] block: ' +
  'its suggestion says what to change, and retryable whether to try again.';

const META =
  'find_tools finds tools by what they do, describe_tool gives the input schema of one, call_tool calls it by its name.';

const INSTRUCTIONS: Readonly<Record<ToolsMode, string>> = {
  all: CHECKED,
  meta: `There are more tools here than are listed: ${META} ${CHECKED}`,
  auto: `Where only three tools are listed, there are more: ${META} ${CHECKED}`,
};

/** Instructions sent to every client in the handshake. */
export function instructionsIn(mode: ToolsMode): string {
  return INSTRUCTIONS[mode];
}

/** MCP capabilities of the gateway to all upstreams. */
export function capabilitiesIn(mode: ToolsMode, hasTasks: boolean): Readonly<Record<Era, Params>> {
  const tools = mode === 'meta' ? {} : { listChanged: true };
  const all = { tools, ...ALL_OFFERS, logging: {} };
  const eras = { legacy: all, modern: all };
  return hasTasks ? withTaskCapabilities(eras) : eras;
}
