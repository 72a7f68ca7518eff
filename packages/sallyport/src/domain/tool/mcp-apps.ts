/** The extension by which tools of MCP servers have user interfaces (MCP Apps, SEP-1865). */
export const UI_EXTENSION = 'io.modelcontextprotocol/ui';
/** Media type of such an interface. */
export const UI_MIME_TYPE = 'text/html;profile=mcp-app';
