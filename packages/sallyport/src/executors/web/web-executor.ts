import { checkUrl, type UrlPolicy } from '@sallyport/guards';
import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Fault } from '../../../api/schemas/error.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { isSafeToRepeat } from '../../domain/tool/tool-version.ts';
import type { OutboundHttp } from '../../external/outbound-http.ts';
import { wireCheck } from '../../registry/wire-faults.ts';
import { abortReason } from '../abort-reason.ts';
import type { Executor, ExecutorCall, ExecutorOutcome } from '../executor.port.ts';
import { neverAsks } from '../never-asks.ts';
import { createPageCache } from './cache/page-cache.ts';
import { createPageConverter, type PageConverter } from './page/page-converter.ts';
import { FetchParameters } from './parameters.ts';
import { type FetchedPage, type FetchParts, fetchPage } from './request/fetch-page.ts';
import { createRobots } from './request/robots.ts';
import { resultOf } from './result.ts';
import { WEB_BOUNDS, type WebBounds, type WebSettings } from './settings.ts';
import { WebConfig } from './web-config.ts';

/** Dependencies of the web executor. */
export interface WebExecutorParts {
  /** Shared with others; not closed with the executor. */
  readonly outbound: OutboundHttp;
  readonly settings: WebSettings;
  readonly bounds?: Partial<WebBounds>;
  readonly clock: Clock;
}

const configCheck = wireCheck(WebConfig, 'E3008', '/executor/config');
const parameterCheck = wireCheck(FetchParameters, 'E3509');

/** Parts shared by all calls of one executor. */
interface Web extends FetchParts {
  readonly converter: PageConverter;
}

/**
 * Runs tools of kind `web` (EXE-05): a URL as Markdown, text or source. The result is a `WebResult`.
 *
 * Errors: E3102 a page that takes too long or too much memory to read, E3104 an address outside the grant or not
 * public, E3109 a selector that fits nothing, E3303 429, E3304 5xx, E3306 the site is slow, E3307 401 and 403, E3308 a
 * type that is not read, E3309 any other refusal, robots.txt and redirects that are not followed, E3310 not reachable,
 * E3509 invalid arguments, E3803 too many wait, and the signal's reason when it aborts. Disposing ends its threads.
 */
export function createWebExecutor(parts: WebExecutorParts): Executor & AsyncDisposable {
  const { outbound, settings, clock } = parts;
  const bounds = { ...WEB_BOUNDS, ...parts.bounds };
  const converter = createPageConverter(bounds.converter);
  const web: Web = {
    outbound,
    converter,
    settings,
    bounds,
    clock,
    cache: createPageCache(bounds),
    robots: createRobots(converter, settings, bounds, clock),
  };
  const run = (call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome> => runCall(web, call, signal);
  return {
    kind: 'web',
    owns: ({ manifest }) => manifest.executor.kind === 'web',
    configFaults,
    isRetryable: ({ manifest }) => isSafeToRepeat(manifest),
    ...neverAsks(run),
    [Symbol.asyncDispose]: () => converter[Symbol.asyncDispose](),
  };
}

function configFaults({ executor, permissions }: ToolManifest): readonly Fault[] {
  const faults = configCheck(executor.config ?? {});
  if ((permissions?.network ?? []).length > 0) return faults;
  const message = 'must name the hosts that the tool may fetch from';
  const hint = 'Add {"host": "docs.example.com", "port": 443}, or {"host": "*", "port": 443} for any public host.';
  return [...faults, { path: '/permissions/network', code: 'E3008', keyword: 'permissions', message, hint }];
}

async function runCall(web: Web, call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome> {
  if (signal.aborted) throw abortReason(signal);
  const parameters = checked(call.parameters);
  const page = await fetched(web, call, parameters, signal);
  return {
    result: await resultOf(web.converter, { page, parameters, bytesMax: call.grant.limits.outputBytesMax, signal }),
    usage: {
      cpuMillicoreSeconds: 0,
      memoryPeakMb: 0,
      networkBytesSent: page.bytesSent,
      networkBytesReceived: page.bytesReceived,
    },
  };
}

/** The guard judges where a URL leads; this checks only its form, so that every parser reads it alike. */
const ANY_PLACE: UrlPolicy = { allowPrivate: true, allowedAddresses: ['0.0.0.0/0', '::/0'] };

/**
 * Checked again, since a registered manifest may have any schema. The text of the URL is checked before it is parsed.
 */
function checked(given: Readonly<Record<string, unknown>>): FetchParameters {
  const [first] = parameterCheck(given);
  if (first !== undefined) throw refused(first.path || '/', first.message);
  const parameters = given as FetchParameters;
  const { why } = checkUrl(parameters.url, ANY_PLACE);
  if (why !== undefined) throw refused('/url', `is refused: ${why}`);
  return parameters;
}

const refused = (path: string, message: string): ToolLayerError =>
  new ToolLayerError('E3509', `The argument ${path} ${message}.`, {
    details: { faults: [{ path, code: 'E3509', keyword: 'web', message }] },
  });

/** Fetches the page within the time of one call. */
async function fetched(
  web: Web,
  { principal, grant }: ExecutorCall,
  { url, fresh = false }: FetchParameters,
  outer: AbortSignal,
): Promise<FetchedPage> {
  const controller = new AbortController();
  const { fetchMs } = web.bounds;
  const late = (): void =>
    controller.abort(
      new ToolLayerError('E3306', `The page did not come within ${fetchMs} ms.`, { details: { timeout_ms: fetchMs } }),
    );
  const onAbort = (): void => controller.abort(abortReason(outer));
  const timer = setTimeout(late, fetchMs);
  outer.addEventListener('abort', onAbort, { once: true });
  try {
    return await fetchPage(web, {
      url: new URL(url),
      tenantId: principal.tenantId,
      allowed: grant.network,
      fresh,
      signal: controller.signal,
    });
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', onAbort);
  }
}
