import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { boundedBody } from '@sallyport/std/web/bounded-body';

/** Largest answer that is read from a policy server. */
const ANSWER_BYTES_MAX = 64 * KiB;

/** A question to a policy server at an address chosen by the operator. */
export interface ServerQuestion {
  /** Name of the engine, for messages. */
  readonly engine: string;
  readonly url: URL;
  readonly body: unknown;
  readonly timeoutMs: number;
}

/**
 * Posts a question and reads the JSON answer. Redirects are refused: they would send the question elsewhere.
 * @throws ToolLayerError E3206 saying how the server failed; the detail stays in its cause
 */
export async function postQuestion({ engine, url, body, timeoutMs }: ServerQuestion): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal,
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw unusable(engine, `answered with status ${response.status}`);
    }
    return JSON.parse(await readText(response));
  } catch (cause) {
    if (cause instanceof ToolLayerError) throw cause;
    if (signal.aborted) throw unusable(engine, `did not answer within ${timeoutMs} ms`, cause);
    if (cause instanceof SyntaxError) throw unusable(engine, 'sent no JSON', cause);
    if (cause instanceof RangeError) throw unusable(engine, `sent more than ${ANSWER_BYTES_MAX} bytes`, cause);
    throw unusable(engine, 'cannot be reached', cause);
  }
}

/** E3206 for an engine without a usable answer. */
export function unusable(engine: string, what: string, cause?: unknown): ToolLayerError {
  const message = `The policy engine ${engine} ${what}, so the call is denied. The operator checks the server.`;
  return new ToolLayerError('E3206', message, { cause });
}

async function readText(response: Response): Promise<string> {
  const body = await boundedBody(response, ANSWER_BYTES_MAX);
  if (body === undefined) throw new RangeError('too large');
  return body.toString('utf8');
}

/**
 * The http address in a setting.
 * @throws ToolLayerError E3801 naming the setting
 */
export function addressOf(setting: string, text: string): URL {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new ToolLayerError('E3801', `${setting} is no http address: ${text.slice(0, 200)}`);
}

/** Most reasons kept of one answer, and characters of each. */
const REASONS_MAX = 10;
const REASON_CHARACTERS_MAX = 300;

/** A server's reasons for its answer, limited in size. Foreign text. */
export function reasonsIn(value: unknown): readonly string[] {
  const listed = Array.isArray(value) ? value : [value];
  return listed
    .filter((reason): reason is string => typeof reason === 'string' && reason !== '')
    .slice(0, REASONS_MAX)
    .map((reason) => reason.slice(0, REASON_CHARACTERS_MAX));
}

/** A lifetime stated by a server; undefined when invalid. */
export function lifetimeIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
