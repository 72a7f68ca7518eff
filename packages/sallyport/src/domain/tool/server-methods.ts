/**
 * Requests to an MCP server beside the calls of its tools that the layer makes calls of: each is registered as a tool,
 * so that it is granted, judged and recorded as one. The word is the one that MCP has for the request.
 */
export const SERVER_METHODS = ['resources/read', 'prompts/get', 'completion/complete'] as const;
/** One of these requests. */
export type ServerMethod = (typeof SERVER_METHODS)[number];

/** Name of the tool within the upstream's own; no tool that a server lists gets it. */
const OWN_NAMES: Readonly<Record<ServerMethod, string>> = {
  'resources/read': 'resources-read',
  'prompts/get': 'prompts-get',
  'completion/complete': 'completion-complete',
};
const TAKEN: ReadonlySet<string> = new Set(Object.values(OWN_NAMES));

/** True for a name that only the layer's own tools for requests have in an upstream. */
export function isServerMethod(name: unknown): name is ServerMethod {
  return SERVER_METHODS.some((method) => method === name);
}

/** The part of a tool id after the upstream: reserved for a request, else what is left of the server's own name. */
export function nameInUpstream(tool: string): string {
  if (isServerMethod(tool)) return OWN_NAMES[tool];
  const own = tool.replace(/[^A-Za-z0-9_-]/g, '_').replace(/(?<!-)-+$/, '_') || '_';
  return TAKEN.has(own) ? `${own}_` : own;
}
