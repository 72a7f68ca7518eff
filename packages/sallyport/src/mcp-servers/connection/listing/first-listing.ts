import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { messageOf } from '@sallyport/std/error/message-of';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Link, ToolListing } from '../link.ts';

/** How long the reason of a connection's end may take to become known, ms. */
const END_MOMENT_MS = 100;

/**
 * Lists the tools of a fresh connection; when that fails, the connection is closed.
 * @throws E3108 when the server ended, E3306 when it took too long, E3308 when its list cannot be read
 */
export async function listFirst(name: string, opened: Link, signal: AbortSignal): Promise<ToolListing> {
  try {
    return await opened.listTools(signal);
  } catch (thrown) {
    const ended = await Promise.race([opened.ended, sleep(END_MOMENT_MS, undefined)]);
    await opened.close();
    if (ended !== undefined) throw startFailure('E3108', name, `ended before it listed its tools: ${ended}`, thrown);
    if (thrown instanceof ToolLayerError && thrown.code !== 'E3103') throw thrown;
    if (signal.aborted || thrown instanceof ToolLayerError)
      throw startFailure('E3306', name, 'did not list its tools in time.', thrown);
    throw startFailure('E3308', name, `could not list its tools: ${messageOf(thrown)}`, thrown);
  }
}

function startFailure(code: ErrorCode, name: string, what: string, cause: unknown): ToolLayerError {
  return new ToolLayerError(code, `The upstream '${name}' ${what}`, { cause });
}
