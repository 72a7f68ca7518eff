import { MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { boundedBody } from '@sallyport/std/web/bounded-body';

/** Largest answer: twice the size of 64 texts of 8192 numbers as JSON text. */
const ANSWER_BYTES_MAX = 32 * MiB;
/** Most characters of a server's text in the cause. */
const SAID_CHARACTERS_MAX = 500;

/** A request to an embeddings server at an address chosen by the operator. */
export interface JsonRequest {
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly signal: AbortSignal;
}

/**
 * Posts JSON and reads JSON. Redirects are refused: they would send the key elsewhere.
 * @throws ToolLayerError E3005 saying what to check; the signal's reason when aborted
 */
export async function postJson({ url, headers = {}, body, signal }: JsonRequest): Promise<unknown> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal,
    });
    const text = await readText(response);
    if (!response.ok) throw refused(url, response.status, text);
    return JSON.parse(text) as unknown;
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    if (cause instanceof ToolLayerError) throw cause;
    throw new ToolLayerError('E3005', `The embedder at ${url.origin} did not answer as expected. Check that it runs.`, {
      cause,
    });
  }
}

async function readText(response: Response): Promise<string> {
  const body = await boundedBody(response, ANSWER_BYTES_MAX);
  if (body === undefined) throw new Error(`The answer is larger than ${ANSWER_BYTES_MAX} bytes.`);
  return body.toString('utf8');
}

function refused(url: URL, status: number, said: string): ToolLayerError {
  const why =
    status === 401 || status === 403
      ? 'Check the secret that search.embedder_secret names.'
      : status === 404
        ? 'Check search.embedder_url and search.embedder_model.'
        : 'Check the server.';
  const cause = new Error(said.slice(0, SAID_CHARACTERS_MAX));
  return new ToolLayerError('E3005', `The embedder at ${url.origin} answered with status ${status}. ${why}`, { cause });
}

/**
 * The vector in a server's answer. Anything but an array of numbers becomes an empty vector, which the caller refuses
 * with the other invalid answers.
 */
export function vectorIn(value: unknown): Float32Array {
  if (!Array.isArray(value) || !value.every((number) => typeof number === 'number')) return new Float32Array();
  return Float32Array.from(value);
}
