import { visibleLine } from '@sallyport/std/text/visible-text';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { Params } from '../../json-rpc.ts';

/** Most fields of one form. */
const FIELDS_MAX = 32;
/** Most choices of one field. */
const CHOICES_MAX = 200;
const NAME_CHARACTERS_MAX = 100;
const WORDS_CHARACTERS_MAX = 500;
const TEXT_CHARACTERS_MAX = 16_000;
const FORMATS: ReadonlySet<unknown> = new Set(['email', 'uri', 'date', 'date-time']);

/** A foreign server's form, reduced to known elements. */
export interface FlatForm {
  /** For the client. */
  readonly schema: Params;
  /** True when an answer fits the form. */
  fits(content: Params): boolean;
}

interface Field {
  readonly shown: Params;
  fits(value: unknown): boolean;
}

/** The form that a flat schema describes (2025-11-25, elicitation); undefined for any other schema. */
export function flatFormOf(schema: unknown): FlatForm | undefined {
  if (!isObject(schema) || schema['type'] !== 'object' || !isObject(schema['properties'])) return undefined;
  const given = Object.entries(schema['properties']);
  if (given.length > FIELDS_MAX) return undefined;
  const fields = new Map<string, Field>();
  for (const [name, value] of given) {
    const field = name.length <= NAME_CHARACTERS_MAX && isObject(value) ? fieldOf(value) : undefined;
    if (field === undefined) return undefined;
    fields.set(name, field);
  }
  const listed = Array.isArray(schema['required']) ? schema['required'] : [];
  const required = [...fields.keys()].filter((name) => listed.includes(name));
  const properties = Object.fromEntries([...fields].map(([name, { shown }]) => [name, shown]));
  return {
    schema: { type: 'object', properties, ...(required.length === 0 ? {} : { required }) },
    fits: (content) =>
      required.every((name) => Object.hasOwn(content, name)) &&
      Object.entries(content).every(([name, value]) => fields.get(name)?.fits(value) === true),
  };
}

function fieldOf(given: Params): Field | undefined {
  const words = {
    ...(typeof given['title'] === 'string' ? { title: visibleLine(given['title'], WORDS_CHARACTERS_MAX) } : {}),
    ...(typeof given['description'] === 'string'
      ? { description: visibleLine(given['description'], WORDS_CHARACTERS_MAX) }
      : {}),
  };
  const field = typedField(given);
  if (field === undefined) return undefined;
  const fallback = given['default'];
  const more = fallback !== undefined && field.fits(fallback) ? { default: fallback } : {};
  return { fits: field.fits, shown: { ...field.shown, ...words, ...more } };
}

function typedField(given: Params): Field | undefined {
  switch (given['type']) {
    case 'boolean':
      return { shown: { type: 'boolean' }, fits: (value) => typeof value === 'boolean' };
    case 'number':
    case 'integer':
      return numberField(given, given['type']);
    case 'array':
      return listField(given);
    case 'string':
      return 'enum' in given || 'oneOf' in given ? choiceField(given) : textField(given);
    default:
      return undefined;
  }
}

function numberField(given: Params, type: 'number' | 'integer'): Field {
  const [minimum, maximum] = [bound(given, 'minimum'), bound(given, 'maximum')];
  return {
    shown: { type, ...minimum.shown, ...maximum.shown },
    fits: (value) =>
      typeof value === 'number' &&
      Number.isFinite(value) &&
      (type === 'number' || Number.isInteger(value)) &&
      value >= (minimum.value ?? value) &&
      value <= (maximum.value ?? value),
  };
}

function textField(given: Params): Field {
  const [least, most] = [bound(given, 'minLength'), bound(given, 'maxLength')];
  const format = FORMATS.has(given['format']) ? { format: given['format'] } : {};
  return {
    shown: { type: 'string', ...least.shown, ...most.shown, ...format },
    fits: (value) => {
      if (typeof value !== 'string' || value.length > TEXT_CHARACTERS_MAX) return false;
      const { length } = [...value];
      return length >= (least.value ?? 0) && length <= (most.value ?? length);
    },
  };
}

function choiceField(given: Params): Field | undefined {
  const choices = choicesIn(given['oneOf'] ?? given['enum'], given['enumNames']);
  if (choices === undefined) return undefined;
  return {
    shown: { type: 'string', ...choices.shown('oneOf') },
    fits: (value) => typeof value === 'string' && choices.values.has(value),
  };
}

function listField(given: Params): Field | undefined {
  const { items } = given;
  const choices = isObject(items) ? choicesIn(items['anyOf'] ?? items['enum']) : undefined;
  if (choices === undefined) return undefined;
  const [least, most] = [bound(given, 'minItems'), bound(given, 'maxItems')];
  return {
    shown: { type: 'array', items: { type: 'string', ...choices.shown('anyOf') }, ...least.shown, ...most.shown },
    fits: (value) =>
      Array.isArray(value) &&
      value.length <= Math.min(CHOICES_MAX, most.value ?? CHOICES_MAX) &&
      value.length >= (least.value ?? 0) &&
      value.every((each) => typeof each === 'string' && choices.values.has(each)),
  };
}

/**
 * Choices by value, or by value and title.
 * @param names titles beside the values, as older servers give them
 */
function choicesIn(given: unknown, names?: unknown) {
  if (!Array.isArray(given) || given.length === 0 || given.length > CHOICES_MAX) return undefined;
  const titles = new Map<string, string | undefined>();
  for (const each of given as unknown[]) {
    const value = isObject(each) ? each['const'] : each;
    if (typeof value !== 'string' || value.length > WORDS_CHARACTERS_MAX) return undefined;
    const title = isObject(each) ? each['title'] : undefined;
    titles.set(value, typeof title === 'string' ? visibleLine(title, WORDS_CHARACTERS_MAX) : undefined);
  }
  const enumNames = namesOf(names, given);
  const isTitled = [...titles.values()].some((title) => title !== undefined);
  return {
    values: new Set(titles.keys()),
    shown: (word: 'oneOf' | 'anyOf'): Params =>
      isTitled
        ? { [word]: [...titles].map(([value, title]) => ({ const: value, title: title ?? value })) }
        : { enum: [...titles.keys()], ...(enumNames === undefined ? {} : { enumNames }) },
  };
}

/** One title per plain value, in their order; undefined for anything else. */
function namesOf(names: unknown, values: readonly unknown[]): readonly string[] | undefined {
  if (!Array.isArray(names) || names.length !== values.length || new Set(values).size !== values.length)
    return undefined;
  if (!names.every((name) => typeof name === 'string')) return undefined;
  return names.map((name) => visibleLine(name, WORDS_CHARACTERS_MAX));
}

function bound(given: Params, name: string): { readonly value: number | undefined; readonly shown: Params } {
  const value = given[name];
  return typeof value === 'number' && Number.isFinite(value)
    ? { value, shown: { [name]: value } }
    : { value: undefined, shown: {} };
}
