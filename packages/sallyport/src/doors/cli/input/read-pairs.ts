import type { JsonSchemaObject } from '../../../../api/schemas/identifiers.ts';
import { EXACT_WHOLE, readWireText } from '../../wire-json.ts';
import { usageError } from './usage-error.ts';

/** True when the words after a tool are `name=value` pairs, and not JSON, `@file` or `-`. */
export const arePairs = (words: readonly string[]): boolean =>
  words.length > 1 || (words[0] !== undefined && !/^(?:\s*[{[]|@|-$)/.test(words[0]));

/**
 * The arguments of a call, written as `a=2 b=three`. A value stays text where the schema wants text; elsewhere it is
 * parsed as JSON, or stays text when it is not JSON, or a number whose digits would be lost.
 * @throws ToolLayerError E3801 for a word without `=` and for a name that occurs twice
 */
export function pairsAsArguments(words: readonly string[], schema: JsonSchemaObject): Record<string, unknown> {
  const read = new Map<string, unknown>();
  for (const word of words) {
    const at = word.indexOf('=');
    if (at < 1) {
      const form = `Write arguments as name=value, for example city=Oslo, or all of them as one JSON object.`;
      throw usageError(`${JSON.stringify(word)} is no argument. ${form}`);
    }
    const [name, text] = [word.slice(0, at), word.slice(at + 1)];
    if (read.has(name)) {
      throw usageError(`${name} is given twice. Write a list as JSON: ${name}='["one","two"]'.`);
    }
    read.set(name, readValue(text, propertyOf(schema, name)));
  }
  return Object.fromEntries(read);
}

function readValue(text: string, property: JsonSchemaObject): unknown {
  if (property['type'] === 'string') return text;
  const json = readWireText(text, EXACT_WHOLE);
  return json.ok && json.inexact !== true && !(typeof json.value === 'string' && isTextToo(property))
    ? json.value
    : text;
}

/** A quoted text keeps its quotes where the schema accepts texts. */
const isTextToo = ({ type }: JsonSchemaObject): boolean =>
  type === undefined || (Array.isArray(type) && type.includes('string'));

function propertyOf(schema: JsonSchemaObject, name: string): JsonSchemaObject {
  const properties = schema['properties'] as Readonly<Record<string, unknown>> | undefined;
  const property = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return typeof property === 'object' && property !== null ? (property as JsonSchemaObject) : {};
}
