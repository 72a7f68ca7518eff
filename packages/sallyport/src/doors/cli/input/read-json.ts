import { isObject } from '../../../domain/shape/is-object.ts';
import { readYaml, sayFault } from '../../../domain/shape/read-yaml.ts';
import { EXACT_WHOLE, readWireText, TOO_LONG_NUMBER } from '../../wire-json.ts';
import type { CliIo } from '../cli-parts.ts';
import { readSource, readTextFile } from './read-source.ts';
import { usageError } from './usage-error.ts';

/** The arguments of a call: JSON text, `@file`, or `-` for standard input. Default: no arguments. */
export async function readArguments(given: string | undefined, io: CliIo): Promise<Record<string, unknown>> {
  if (given === undefined) return {};
  const named = given === '-' || given.startsWith('@');
  const name = given === '-' ? 'Standard input' : named ? given.slice(1) : 'The arguments';
  const text = given.startsWith('@')
    ? await readTextFile(given.slice(1), io)
    : named
      ? await readSource('-', io)
      : given;
  const read = readWireText(text, EXACT_WHOLE);
  if (!read.ok) throw usageError(`${name}: ${read.failure.message}`);
  if (read.inexact === true) throw usageError(`${name}: there is a ${TOO_LONG_NUMBER}`);
  if (!isObject(read.value)) throw usageError(`${name} must be a JSON object, for example '{"city":"Oslo"}'.`);
  return read.value;
}

/** The manifests in a JSON or YAML file: one, or a list. The layer validates them. */
export function readManifests(file: string, io: CliIo): Promise<readonly Record<string, unknown>[]> {
  return readObjects(file, io, 'manifest');
}

/** Reads a list of other objects from a file. @param noun their name in messages */
export async function readObjects(file: string, io: CliIo, noun: string): Promise<readonly Record<string, unknown>[]> {
  const value = /\.json$/i.test(file)
    ? jsonOf(file, await readSource(file, io))
    : yamlOf(file, await readSource(file, io));
  const objects = Array.isArray(value) ? value : [value];
  const odd = objects.findIndex((each) => !isObject(each));
  if (odd >= 0 || objects.length === 0) {
    throw usageError(`${file} must hold a ${noun} or a list of ${noun}s${odd > 0 ? `; item ${odd} is none` : ''}.`);
  }
  return objects;
}

function jsonOf(file: string, text: string): unknown {
  const read = readWireText(text);
  if (!read.ok) throw usageError(`${file}: ${read.failure.message.replace('The request', 'The file')}`);
  return read.value;
}

/** YAML holds JSON too. */
function yamlOf(file: string, text: string): unknown {
  const read = readYaml(text);
  if ('faults' in read) throw usageError(`${file} is not YAML: ${sayFault(read.faults[0])}`);
  return read.value;
}
