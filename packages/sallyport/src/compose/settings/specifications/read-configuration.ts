import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { parse } from 'smol-toml';
import { parseDocument } from 'yaml';
import { isObject } from '../../../domain/shape/is-object.ts';

/** Most nodes that the aliases of one YAML file may expand to; stops documents that expand without end. */
const YAML_ALIASES_MAX = 100;
/** Deepest nesting of a configuration; that of the specifications has 5 levels. */
const LEVELS_MAX = 32;

/**
 * Reads a configuration as the specifications write it.
 * @param name of the file: its ending says whether it is JSON, TOML or YAML; without one of these, TOML is tried before
 *   YAML, which holds JSON too
 * @throws ToolLayerError E3801 for a text that cannot be read, or holds no table; no value is named
 */
export function readConfiguration(text: string, name: string): Record<string, unknown> {
  const value = readersFor(name).reduce<unknown>((read, reader) => read ?? reader(text), undefined);
  if (!isObject(value)) throw unreadable(name);
  if (isTooDeep(value, LEVELS_MAX))
    throw new ToolLayerError('E3801', `${name} is nested deeper than ${LEVELS_MAX} levels. Write it flatter.`);
  return value;
}

/** Value of a text; undefined when it cannot be read. What a parser says may hold values of the file, so it is dropped. */
type Reader = (text: string) => unknown;

const json: Reader = orNothing((text) => JSON.parse(text));
const toml: Reader = orNothing((text) => parse(text));
const yaml: Reader = orNothing((text) => {
  const document = parseDocument(text, { version: '1.2', strict: true, logLevel: 'silent' });
  return document.errors.length > 0 ? undefined : document.toJS({ maxAliasCount: YAML_ALIASES_MAX });
});

function readersFor(name: string): readonly Reader[] {
  if (/\.json$/i.test(name)) return [json];
  if (/\.toml$/i.test(name)) return [toml];
  if (/\.ya?ml$/i.test(name)) return [yaml];
  return [toml, yaml];
}

function orNothing(read: Reader): Reader {
  return (text) => {
    try {
      return read(text);
    } catch {
      return undefined;
    }
  };
}

const unreadable = (name: string): ToolLayerError =>
  new ToolLayerError('E3801', `${name} holds no tables of keys in TOML, YAML or JSON. Check it in an editor.`);

const isTooDeep = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((each) => isTooDeep(each, levels - 1)));
