/**
 * Members of the configuration of an MCP tool that repeat what its server lists of it, for clients to read. Everything else in there
 * says how the tool is reached.
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
