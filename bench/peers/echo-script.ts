import { join } from 'node:path';

/** Program of the trivial MCP server behind every proxy. */
export const ECHO_SCRIPT = join(import.meta.dirname, 'echo-upstream.ts');
