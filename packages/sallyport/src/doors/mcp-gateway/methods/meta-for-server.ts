import { KiB } from '@sallyport/std/bytes';
import type { Params } from '../../json-rpc.ts';
import { metaOf } from '../../mcp-protocol.ts';

/** Most that is passed on, as JSON. */
const CHARS_MAX = 16 * KiB;
/** What belongs to the connection between the client and the layer: the layer sends its own to the server. */
const OF_CONNECTION: ReadonlySet<string> = new Set(['progressToken', 'traceparent', 'tracestate', 'baggage']);
/** Prefixes that MCP reserves (2025-11-25, `_meta`), and the layer's own. */
const RESERVED = /^(?:(?:[^./]+\.)?(?:modelcontextprotocol|mcp)(?:\.[^./]+)*|sallyport)\//;

/** The members of a request's `_meta` that are for the tool's server; a text says what is wrong with them. */
export function metaForServer(params: Params): Params | string | undefined {
  const meta = Object.entries(metaOf(params)).filter(([key]) => !OF_CONNECTION.has(key) && !RESERVED.test(key));
  if (meta.length === 0) return undefined;
  const passed = Object.fromEntries(meta);
  const isTooLong = JSON.stringify(passed).length > CHARS_MAX;
  return isTooLong ? `_meta must have at most ${CHARS_MAX} characters for the server of the tool.` : passed;
}
