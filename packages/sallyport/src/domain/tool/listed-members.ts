/**
 * Members of an MCP tool's configuration that repeat its server's listing, for clients to read. All other members say
 * how the tool is reached.
 */
export const LISTED_MEMBERS = [
  'title',
  'undescribed',
  'annotations',
  'output_schema',
  'icons',
  '_meta',
  'execution',
] as const;
