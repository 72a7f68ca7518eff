import { setImmediate as othersWork } from 'node:timers/promises';
import { MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isObject } from '../../../domain/shape/is-object.ts';
import { isServerMethod } from '../../../domain/tool/server-methods.ts';
import type { ListedMcpTool } from '../../../registry/importer.port.ts';
import { definitionHash } from '../../trust/definition-hash.ts';
import type { ToolListing } from '../link.ts';
import type { Multiplexer } from '../multiplexer.ts';
import { methodTools } from './method-tools.ts';

/** Limits of one listing. */
const LISTING_BOUNDS = {
  pagesMax: 1_000,
  toolsMax: 20_000,
  /** All definitions together, as JSON. */
  bytesMax: 64 * MiB,
  pageTimeoutMs: 20_000,
  malformedReported: 100,
  /** Levels of objects and lists in one definition; deeper definitions are not accepted as tools. */
  depthMax: 128,
  /** Entries processed before other work gets a turn. */
  toolsPerSlice: 100,
} as const;

/**
 * The tools of a server with these capabilities: what it lists, and the layer's own for the other requests that it
 * answers.
 * @throws what `readList` throws
 */
export async function listTools(
  mux: Multiplexer,
  label: string,
  capabilities: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<ToolListing> {
  const listed = capabilities['tools'] === undefined ? NOTHING : await readList(mux, label, signal);
  return { ...listed, tools: [...listed.tools, ...methodTools(capabilities)] };
}

const NOTHING: ToolListing = { tools: [], malformed: [] };

/**
 * Reads `tools/list` to its last page. An invalid entry is reported and does not affect others.
 * @throws E3308 when a limit is exceeded, a cursor repeats, or a page has no list
 */
async function readList(mux: Multiplexer, label: string, signal: AbortSignal): Promise<ToolListing> {
  const tools: ListedMcpTool[] = [];
  const malformed: { place: string; reason: string }[] = [];
  const cursors = new Set<string>();
  let bytes = 0;
  let entries = 0;
  let cursor: string | undefined;
  do {
    const page = await mux.request('tools/list', cursor === undefined ? {} : { cursor }, {
      signal,
      timeoutMs: LISTING_BOUNDS.pageTimeoutMs,
    });
    if (!Array.isArray(page['tools'])) throw broken(label, 'a page of its tool list holds no list');
    // Checked before processing: a page may be as long as one message.
    if (entries + page['tools'].length > LISTING_BOUNDS.toolsMax) {
      throw broken(label, `it lists more than ${LISTING_BOUNDS.toolsMax} tools`);
    }
    for (const entry of page['tools'] as readonly unknown[]) {
      if (entries % LISTING_BOUNDS.toolsPerSlice === 0) await othersWork();
      const place = `tools[${entries}]`;
      entries += 1;
      const tool = toolOf(entry);
      if (typeof tool === 'string') {
        if (malformed.length < LISTING_BOUNDS.malformedReported) malformed.push({ place, reason: tool });
        continue;
      }
      bytes += JSON.stringify(tool).length;
      // Hashed here, where other work can run in between, not when the whole list is compared.
      definitionHash(tool);
      tools.push(tool);
    }
    if (bytes > LISTING_BOUNDS.bytesMax) {
      throw broken(label, `its tool definitions are larger than ${LISTING_BOUNDS.bytesMax / MiB} MiB`);
    }
    cursor = nextCursor(page, cursors, label);
  } while (cursor !== undefined);
  return { tools, malformed };
}

function nextCursor(page: Record<string, unknown>, seen: Set<string>, label: string): string | undefined {
  const cursor = page['nextCursor'];
  if (typeof cursor !== 'string' || cursor === '') return undefined;
  if (seen.has(cursor)) throw broken(label, 'its tool list comes back to a page that it already sent');
  seen.add(cursor);
  if (seen.size >= LISTING_BOUNDS.pagesMax) {
    throw broken(label, `its tool list has more than ${LISTING_BOUNDS.pagesMax} pages`);
  }
  return cursor;
}

/** The tool in an entry of the list, or the reason why it is invalid. */
function toolOf(entry: unknown): ListedMcpTool | string {
  if (!isObject(entry)) return 'the entry is no object';
  const { name, title, description, inputSchema, outputSchema, annotations, icons, _meta, execution } = entry;
  if (typeof name !== 'string' || name === '') return 'the entry has no name';
  const shown = JSON.stringify(name.slice(0, 100));
  if (isServerMethod(name)) return `the name ${shown} is that of a request of MCP, so no tool can have it here`;
  if (!isObject(inputSchema)) return `the tool ${shown} has no inputSchema object`;
  if (isDeeper(entry, LISTING_BOUNDS.depthMax)) return `the tool ${shown} is nested too deeply`;
  return {
    name,
    inputSchema,
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(isObject(outputSchema) ? { outputSchema } : {}),
    ...(isObject(annotations) ? { annotations } : {}),
    ...(Array.isArray(icons) ? { icons } : {}),
    ...(isObject(_meta) ? { _meta } : {}),
    ...(isObject(execution) ? { execution } : {}),
  };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

function broken(label: string, fault: string): ToolLayerError {
  return new ToolLayerError('E3308', `The upstream '${label}' cannot be read: ${fault}.`);
}
