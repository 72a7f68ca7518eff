import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { TSchema } from 'typebox';
import { isObject } from '../../domain/shape/is-object.ts';
import type { OperationEntry } from '../../operations/catalogue.ts';

/** Turns one text of a path or query into the value that the schema asks for. */
type Reader = (text: string, name: string) => unknown;

/** Reads an operation's input from a request; made once per route. */
export interface InputReader {
  /** From path and query. A repeated query key may come as a list. */
  fromUrl(params: Readonly<Record<string, string>>, query: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** From a JSON body and the path. */
  fromBody(params: Readonly<Record<string, string>>, body: unknown): Record<string, unknown>;
}

/**
 * Restores only the shapes that text cannot carry (numbers, booleans, lists, objects as JSON); the operation validates
 * the values. Unknown keys are passed on, so that the operation names them.
 */
export function createInputReader(entry: OperationEntry): InputReader {
  const readers = new Map<string, Reader>();
  const lists = new Set<string>();
  for (const [name, schema] of Object.entries(propertiesOf(entry.input))) {
    const list = schema['type'] === 'array';
    if (list) lists.add(name);
    const reader = READERS[String((list ? (schema['items'] as PropertySchema | undefined) : schema)?.['type'])];
    if (reader !== undefined) readers.set(name, reader);
  }
  const read = (name: string, text: string): unknown => readers.get(name)?.(text, name) ?? text;

  const fromUrl: InputReader['fromUrl'] = (params, query) => {
    const input: Record<string, unknown> = {};
    for (const name of Object.keys(query)) {
      if (name === '__proto__') throw refusal(name, 'propertyNames', 'is not allowed as a name; leave it out.');
      const value = query[name];
      const texts = Array.isArray(value) ? value.map(String) : [String(value)];
      if (lists.has(name)) input[name] = texts.map((text) => read(name, text));
      else if (texts.length > 1) throw refusal(name, 'type', 'is given more than once; give it once.');
      else input[name] = read(name, texts[0] ?? '');
    }
    for (const name of Object.keys(params)) {
      if (Object.hasOwn(input, name) && input[name] !== params[name]) throw twoMeanings(name);
      input[name] = read(name, params[name] ?? '');
    }
    return input;
  };

  const fromBody: InputReader['fromBody'] = (params, body) => {
    if (body === undefined) throw refusal(undefined, 'type', 'The request has no body; send a JSON object.');
    if (!isObject(body)) throw refusal(undefined, 'type', 'The request body must be a JSON object.');
    const names = Object.keys(params);
    const other = names.find((name) => Object.hasOwn(body, name) && body[name] !== params[name]);
    if (other !== undefined) throw twoMeanings(other);
    return names.length === 0 ? body : { ...body, ...fromUrl(params, {}) };
  };
  return { fromUrl, fromBody };
}

const READERS: Readonly<Record<string, Reader>> = {
  integer: (text, name) => {
    if (!/^-?[0-9]{1,15}$/.test(text)) throw refusal(name, 'type', 'must be a whole number, for example 10.');
    return Number(text);
  },
  number: (text, name) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isFinite(value)) throw refusal(name, 'type', 'must be a number.');
    return value;
  },
  boolean: (text, name) => {
    if (text !== 'true' && text !== 'false') throw refusal(name, 'type', 'must be true or false.');
    return text === 'true';
  },
  object: (text, name) => {
    try {
      return JSON.parse(text);
    } catch {
      throw refusal(name, 'type', 'must be a JSON object, URL-encoded.');
    }
  },
};

/** The parts of a property's schema that are read; `items` is a schema too. */
type PropertySchema = Readonly<Record<string, unknown>>;

function propertiesOf(schema: TSchema): Readonly<Record<string, PropertySchema>> {
  return (schema as { properties?: Record<string, PropertySchema> }).properties ?? {};
}

/** The request is ambiguous between two meanings. */
const twoMeanings = (name: string): ToolLayerError =>
  refusal(name, 'const', 'is not what the address says; leave it out, the address names it.');

/** @param name the member at fault; undefined for the input as a whole */
function refusal(name: string | undefined, keyword: string, what: string): ToolLayerError {
  const path = name === undefined ? '' : pointerTo('', name);
  const message = name === undefined ? what : `${path} ${what}`;
  return new ToolLayerError('E3801', message, { details: { faults: [{ path, code: 'E3801', keyword, message }] } });
}
