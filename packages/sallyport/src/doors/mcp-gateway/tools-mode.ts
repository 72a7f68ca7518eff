import type { IncomingHttpHeaders } from 'node:http';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { TOOLS_MODES, type ToolsMode } from './settings.ts';

/** The parts of an HTTP request that may choose a mode. */
export interface ModeRequest {
  /** Path and query. */
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** Query of the address; the header is for clients that cannot choose their address. */
const QUERY = 'tools';
const HEADER = 'sallyport-tools';

/**
 * The mode that a request asks for; undefined when it names none. The query wins over the header.
 * @throws ToolLayerError E3801 for an unknown mode
 */
export function toolsModeOf({ url, headers }: ModeRequest): ToolsMode | undefined {
  // Fast path: an address without a query, and no header.
  const query = url?.indexOf('?') ?? -1;
  const header = headers[HEADER];
  if (query < 0 && header === undefined) return undefined;
  const named = query < 0 ? null : new URLSearchParams(url?.slice(query + 1)).get(QUERY);
  if (named !== null) return modeOf(named, `The query ${QUERY}`);
  return header === undefined ? undefined : modeOf(header, 'The header Sallyport-Tools');
}

function modeOf(named: string | readonly string[], place: string): ToolsMode {
  const mode = TOOLS_MODES.find((known) => known === named);
  if (mode !== undefined) return mode;
  throw new ToolLayerError('E3801', `${place} must be one of ${TOOLS_MODES.join(', ')}.`);
}
