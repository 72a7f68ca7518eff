import { KiB } from '@sallyport/std/bytes';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { ListedOffer, ListedResource, ListedTemplate } from '../../known-upstream.ts';

/** Longest URI and longest name that is taken from a list, in characters. */
const URI_CHARS_MAX = 8 * KiB;
const NAME_CHARS_MAX = 1 * KiB;
/** Largest entry, as JSON. */
const ENTRY_CHARS_MAX = 256 * KiB;
const ARGUMENTS_MAX = 256;

type Entry = Readonly<Record<string, unknown>>;
type Fits = (value: unknown) => boolean;

const isText: Fits = (value) => typeof value === 'string';
const isNumber: Fits = (value) => typeof value === 'number' && Number.isFinite(value);
const isIcon: Fits = (value) =>
  isObject(value) && typeof value['src'] === 'string' && /^(?:https?:|data:image\/)/i.test(value['src']);
const isIcons: Fits = (value) => Array.isArray(value) && value.every(isIcon);
const isArgument: Fits = (value) =>
  isObject(value) &&
  typeof value['name'] === 'string' &&
  [value['title'], value['description']].every((text) => text === undefined || typeof text === 'string') &&
  (value['required'] === undefined || typeof value['required'] === 'boolean');
const isArguments: Fits = (value) => Array.isArray(value) && value.length <= ARGUMENTS_MAX && value.every(isArgument);

/** Members of every entry beside its name: clients refuse a whole list for one of a wrong type. */
const OF_ALL: Readonly<Record<string, Fits>> = { title: isText, description: isText, icons: isIcons, _meta: isObject };
const OF_RESOURCES = { ...OF_ALL, mimeType: isText, annotations: isObject };

/** The resource in an entry of `resources/list`; undefined for no resource. */
export function resourceOf(listed: unknown): ListedResource | undefined {
  const entry = listed as Entry;
  const uri = textIn(entry, 'uri', URI_CHARS_MAX);
  const offer = offerOf(entry, { ...OF_RESOURCES, size: isNumber });
  return uri === undefined || offer === undefined ? undefined : { uri, ...offer };
}

/** The template in an entry of `resources/templates/list`; undefined for no template. */
export function templateOf(listed: unknown): ListedTemplate | undefined {
  const entry = listed as Entry;
  const uriTemplate = textIn(entry, 'uriTemplate', URI_CHARS_MAX);
  const offer = offerOf(entry, OF_RESOURCES);
  return uriTemplate === undefined || offer === undefined ? undefined : { uriTemplate, ...offer };
}

/** The prompt in an entry of `prompts/list`; undefined for no prompt. */
export function promptOf(listed: unknown): ListedOffer | undefined {
  return offerOf(listed as Entry, { ...OF_ALL, arguments: isArguments });
}

function offerOf(entry: Entry, members: Readonly<Record<string, Fits>>): ListedOffer | undefined {
  const name = textIn(entry, 'name', NAME_CHARS_MAX);
  if (name === undefined) return undefined;
  const kept = Object.entries(members).filter(([member, fits]) => entry[member] !== undefined && fits(entry[member]));
  const offer = { name, ...Object.fromEntries(kept.map(([member]) => [member, entry[member]])) };
  return JSON.stringify(offer).length > ENTRY_CHARS_MAX ? undefined : offer;
}

function textIn(entry: Entry, member: string, charsMax: number): string | undefined {
  const text = entry[member];
  return typeof text === 'string' && text !== '' && text.length <= charsMax ? text : undefined;
}
