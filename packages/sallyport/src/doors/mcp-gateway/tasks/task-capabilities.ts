import type { Params } from '../../json-rpc.ts';
import { type Era, TASKS_EXTENSION } from '../../mcp-protocol.ts';

/** Capabilities of a server, and that calls of its tools can be tasks, as each era declares it. */
export function withTaskCapabilities(capabilities: Readonly<Record<Era, Params>>): Readonly<Record<Era, Params>> {
  const { legacy, modern } = capabilities;
  const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
  const extensions = { ...(modern['extensions'] as Params | undefined), [TASKS_EXTENSION]: {} };
  return { legacy: { ...legacy, tasks }, modern: { ...modern, extensions } };
}
