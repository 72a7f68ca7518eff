import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { DocumentTool } from '../../domain/document/document-tools.ts';
import { broken, structuredOf } from '../../domain/document/structured-answer.ts';
import type { DocumentReader, DocumentServer } from '../document-server.port.ts';
import type { DocumentSettings } from './settings.ts';

/** One request to a document server. */
export interface ServerRequest {
  readonly reader: DocumentReader;
  readonly tool: Extract<DocumentTool, `get_${string}`>;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

/** Failures that concern this caller, or that an operator wants: no other source may answer in place of the server. */
const FINAL: ReadonlySet<string> = new Set<ErrorCode>(['E3210', 'E3302', 'E3307', 'E3311', 'E3813', 'E3603']);
const OUT_OF_TIME: ReadonlySet<string> = new Set<ErrorCode>(['E3103', 'E3306', 'E3605']);
/** Failures that may be over at the next request. */
const PASSING: ReadonlySet<string> = new Set<ErrorCode>([
  'E3107',
  'E3108',
  'E3303',
  'E3304',
  'E3308',
  'E3310',
  'E3606',
  'E3803',
]);

/**
 * True when the server's failure leaves room for another source. A refusal does not where the server knows who asks: it
 * may concern this caller alone.
 * @param scope see `DocumentServer.scopeOf`
 */
export const mayFallBack = (thrown: unknown, scope: string): boolean =>
  thrown instanceof ToolLayerError &&
  isOfServer(thrown) &&
  !(scope !== '' && thrown.failure.details?.['refused'] === true);

const isOfServer = ({ code }: ToolLayerError): boolean => code === 'E3602' || code === 'E3605' || code === 'E3606';

/**
 * Asks the server, again where its failure may pass (DOC-03). A request that ran out of time is not made again.
 * @returns the structured content of its answer
 * @throws ToolLayerError E3602, E3605, E3606; the reason of the signal; and unchanged what concerns this caller alone
 */
export async function askServer(
  server: DocumentServer,
  { requestMs, retriesMax, retryMs }: Pick<DocumentSettings, 'requestMs' | 'retriesMax' | 'retryMs'>,
  { reader, tool, args, signal }: ServerRequest,
): Promise<Readonly<Record<string, unknown>>> {
  for (let retries = 0; ; retries += 1) {
    try {
      return structuredOf(await server.call(reader, tool, args, { signal, timeoutMs: requestMs }));
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      const pauseMs = retryMs * 2 ** retries;
      if (retries >= retriesMax || !mayAskAgain(thrown, pauseMs)) throw documentError(thrown);
      await sleep(pauseMs, undefined, { signal }).catch(() => {
        throw signal.reason;
      });
    }
  }
}

function mayAskAgain(thrown: unknown, pauseMs: number): boolean {
  if (!(thrown instanceof ToolLayerError) || isDisabled(thrown)) return false;
  // One that has to wait longer would be refused once more.
  return PASSING.has(thrown.code) && (thrown.failure.retryAfterMs ?? 0) <= pauseMs;
}

const isDisabled = ({ failure }: ToolLayerError): boolean => failure.details?.['disabled'] === true;

function documentError(thrown: unknown): unknown {
  if (!(thrown instanceof ToolLayerError) || FINAL.has(thrown.code) || isDisabled(thrown) || isOfServer(thrown))
    return thrown;
  if (OUT_OF_TIME.has(thrown.code))
    return new ToolLayerError('E3605', 'The document server did not answer in time. Try again later.', {
      cause: thrown,
    });
  if (thrown.code === 'E3308') return broken('what it sent cannot be read', thrown);
  const why =
    thrown.code === 'E3809'
      ? 'There is no document server: add an upstream of the name in document_bridge.upstream.'
      : 'The document server cannot be asked. Try again later.';
  const { retryAfterMs } = thrown.failure;
  return new ToolLayerError('E3602', why, { cause: thrown, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}
