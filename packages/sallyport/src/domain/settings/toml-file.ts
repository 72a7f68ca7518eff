import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { parse, TomlError } from 'smol-toml';
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

/** Makes the error for a fault of a file. What is wrong follows the name of the file: `is not TOML in line 3`. */
export type FileFault = (what: string, cause?: unknown) => ToolLayerError;

/** Faults that one error names. */
const NAMED_MAX = 5;

/**
 * E3801 for faults of a file that an operator wrote.
 * @param name what it is: `file of webhooks`
 */
export function fileFault(name: string, path: string): FileFault {
  return (what, cause) => new ToolLayerError('E3801', `The ${name} ${path} ${what}.`, { cause });
}

/**
 * The values of a TOML text. The parser's error quotes the text, which may hold secrets, so it is not kept as a cause.
 * @throws the fault, with line, column and reason
 */
export function parseToml(text: string, fault: FileFault): Record<string, unknown> {
  try {
    return parse(text);
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw fault('is not TOML');
    const [, reason = ''] = /^Invalid TOML document: (.*)/.exec(thrown.message) ?? [];
    throw fault(`is not TOML in line ${thrown.line}, column ${thrown.column}: ${reason}`);
  }
}

/**
 * Same as `parseToml`, for values of a schema; dates become texts.
 * @throws the fault, which names the place of each value that does not fit, and no value
 */
export function parseTomlAs<Schema extends TSchema>(text: string, schema: Schema, fault: FileFault): Static<Schema> {
  const values: unknown = JSON.parse(JSON.stringify(parseToml(text, fault)));
  const faults = Compile(schema)
    .Errors(values)
    .map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
  if (faults.length > 0) throw fault(`has faults: ${faults.slice(0, NAMED_MAX).join('; ')}`);
  return values as Static<Schema>;
}
