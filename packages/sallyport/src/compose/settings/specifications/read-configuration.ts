import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { parse, TomlError } from 'smol-toml';
import { isObject } from '../../../domain/shape/is-object.ts';
import { readYaml } from '../../../domain/shape/read-yaml.ts';

/** Deepest nesting of a configuration; that of the specifications has 5 levels. */
const LEVELS_MAX = 32;

/**
 * Reads a configuration as the specifications write it.
 * @param name of the file: its ending says whether it is JSON, TOML or YAML; without one of these, TOML is tried before
 *   YAML, which holds JSON too
 * @throws ToolLayerError E3801 for a text that cannot be read, or holds no table; no value is named
 */
export function readConfiguration(text: string, name: string): Record<string, unknown> {
  let place: string | undefined;
  for (const read of readersFor(name)) {
    const found = read(text);
    if (isObject(found.value)) {
      if (!isTooDeep(found.value, LEVELS_MAX)) return found.value;
      throw new ToolLayerError('E3801', `${name} is nested deeper than ${LEVELS_MAX} levels. Write it flatter.`);
    }
    place ??= found.place;
  }
  const where = place === undefined ? `${name} holds no tables of keys` : `${name}:${place} cannot be read`;
  throw new ToolLayerError('E3801', `${where}: write TOML, YAML or JSON, as the ending of its name says.`);
}

/** Value of a text, or the line and column of its fault. What a parser says beyond these may hold values of the file. */
type Reader = (text: string) => { readonly value?: unknown; readonly place?: string };

const json: Reader = (text) => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return {};
  }
};

const toml: Reader = (text) => {
  try {
    return { value: parse(text) };
  } catch (thrown) {
    return thrown instanceof TomlError ? { place: `${thrown.line}:${thrown.column}` } : {};
  }
};

const yaml: Reader = (text) => {
  const read = readYaml(text);
  if ('value' in read) return read;
  const [{ place }] = read.faults;
  return place === undefined ? {} : { place };
};

function readersFor(name: string): readonly Reader[] {
  if (/\.json$/i.test(name)) return [json];
  if (/\.toml$/i.test(name)) return [toml];
  if (/\.ya?ml$/i.test(name)) return [yaml];
  return [toml, yaml];
}

const isTooDeep = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((each) => isTooDeep(each, levels - 1)));
