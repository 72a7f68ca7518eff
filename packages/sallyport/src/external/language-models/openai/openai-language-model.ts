import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { boundedBody } from '@sallyport/std/web/bounded-body';
import type { LanguageModel } from '../../../domain/language-model/language-model.port.ts';
import type { OpenAiLanguageModelSettings } from './settings.ts';

/** Largest answer that is read. */
const ANSWER_BYTES_MAX = 256 * KiB;
/** Most characters of a server's text in the cause. */
const SAID_CHARACTERS_MAX = 500;
/** Finish reasons of a complete answer. A truncated one might have continued with a "not". */
const WHOLE = new Set(['stop', 'end_turn', 'eos', undefined, null]);

/**
 * Any server that implements OpenAI's `POST /v1/chat/completions`.
 * @throws ToolLayerError E3801 for an invalid URL
 */
export function createOpenAiLanguageModel(settings: OpenAiLanguageModelSettings): LanguageModel {
  const { url, model, apiKey, temperature } = settings;
  const address = addressOf(url);
  return {
    name: `${address.host}/${model}`,
    async complete({ system, user }, signal) {
      signal.throwIfAborted();
      const key = await apiKey?.();
      const messages = [
        { role: 'system', content: system },
        { role: 'user', content: user },
      ];
      const body = { model, messages, ...(temperature === undefined ? {} : { temperature }) };
      return contentOf(await post(address, key, body, signal), address);
    },
  };
}

/** Posts JSON and reads JSON. Redirects are refused: they would send the key elsewhere. */
async function post(address: URL, key: string | undefined, body: object, signal: AbortSignal): Promise<unknown> {
  let text: string;
  let response: Response | undefined;
  try {
    response = await fetch(address, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify(body),
      redirect: 'error',
      signal,
    });
    text = await readText(response, address);
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    if (cause instanceof ToolLayerError) throw cause;
    const what = response === undefined ? 'cannot be reached' : 'broke its answer off';
    throw new ToolLayerError('E3310', `The language model at ${address.origin} ${what}.`, { cause });
  }
  if (!response.ok) throw refused(address, response.status, text);
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(response.headers.get('content-type') ?? ''))
    throw unreadable(address, 'it is not JSON by its content type', text);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw unreadable(address, 'it is not JSON', text);
  }
}

async function readText(response: Response, address: URL): Promise<string> {
  const body = await boundedBody(response, ANSWER_BYTES_MAX);
  if (body === undefined) throw unreadable(address, `it has more than ${ANSWER_BYTES_MAX} bytes`, '');
  return body.toString('utf8');
}

interface Completion {
  readonly choices?: readonly {
    readonly message?: { readonly content?: unknown };
    readonly finish_reason?: string | null;
  }[];
}

function contentOf(answer: unknown, address: URL): string {
  const choices = (answer as Completion | null)?.choices;
  const first = Array.isArray(choices) ? (choices as NonNullable<Completion['choices']>)[0] : undefined;
  const content = first?.message?.content;
  if (typeof content !== 'string') throw unreadable(address, 'it holds no text', JSON.stringify(answer));
  if (!WHOLE.has(first?.finish_reason)) throw unreadable(address, `it ended with ${first?.finish_reason}`, content);
  return content;
}

function refused(address: URL, status: number, said: string): ToolLayerError {
  const cause = new Error(said.slice(0, SAID_CHARACTERS_MAX));
  const sentence = `The language model at ${address.origin} answered with status ${status}.`;
  if (status === 401 || status === 403)
    return new ToolLayerError('E3307', `${sentence} Check the secret that model.secret names.`, { cause });
  if (status >= 500 || status === 429) return new ToolLayerError('E3304', `${sentence} Try again later.`, { cause });
  return new ToolLayerError('E3309', `${sentence} Check model.url and model.name.`, { cause });
}

const unreadable = (address: URL, why: string, said: string): ToolLayerError =>
  new ToolLayerError('E3308', `The answer of the language model at ${address.origin} cannot be used: ${why}.`, {
    cause: new Error(said.slice(0, SAID_CHARACTERS_MAX)),
  });

function addressOf(url: string): URL {
  const base = URL.parse(url.endsWith('/') ? url : `${url}/`);
  if (base === null || !/^https?:$/.test(base.protocol))
    throw new ToolLayerError('E3801', `model.url is no http address: ${url.slice(0, 200)}`);
  return new URL(/\/v1\/$/.test(base.pathname) ? 'chat/completions' : 'v1/chat/completions', base);
}
