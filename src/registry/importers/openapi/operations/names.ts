import { coerce } from 'semver';
import { sha256 } from '../../../../std/sha256.ts';

/** Longest tool id that is made: the providers of language models take no longer function names. */
const TOOL_ID_CHARS_MAX = 64;
/** Longest prefix of tool ids; the contract of the import allows no more. */
const SOURCE_CHARS_MAX = 40;
const HASH_CHARS = 8;

/** The prefix of tool ids made of a document's title: small letters, digits and dashes. */
export function sourceOf(title: string | undefined): string {
  const words =
    title
      ?.normalize('NFKD')
      .replaceAll(/\p{M}+/gu, '')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const source = words.join('-').slice(0, SOURCE_CHARS_MAX).replace(/-+$/, '');
  return source === '' ? 'api' : source;
}

/** Gives each operation of a document an id of its own, the same at every import. */
export function toolIds(source: string): (operationId: string | undefined, method: string, path: string) => string {
  const taken = new Set<string>();
  return (operationId, method, path) => {
    const full = `${source}__${nameOf(operationId) || nameOf(`${method}_${path}`) || method}`;
    const base = shortened(full);
    let id = base;
    for (let next = 2; taken.has(id); next += 1) id = `${base.slice(0, TOOL_ID_CHARS_MAX - 5)}_${next}`;
    taken.add(id);
    return id;
  };
}

/** Letters, digits, dash and underscore: a dot is allowed in a tool id but not in the function names of most models. */
function nameOf(text: string | undefined): string {
  return (text ?? '')
    .replaceAll(/[^A-Za-z0-9_-]+/g, '_')
    .replaceAll(/_{2,}/g, '_')
    .replaceAll(/^[_-]+|[_-]+$/g, '');
}

function shortened(id: string): string {
  if (id.length <= TOOL_ID_CHARS_MAX) return id;
  return `${id.slice(0, TOOL_ID_CHARS_MAX - HASH_CHARS - 1)}_${sha256(id).slice(0, HASH_CHARS)}`;
}

/** The document's version as a release in SemVer: what is missing is 0, a date counts as year, month, day. */
export function releaseOf(version: string): string {
  const date = /^(\d{4})-(\d{1,2})-(\d{1,2})/.exec(version);
  if (date !== null) return `${Number(date[1])}.${Number(date[2])}.${Number(date[3])}`;
  return coerce(version.slice(0, 256))?.version ?? '1.0.0';
}

/** The name of a secret: `<SOURCE>_<SCHEME>` in capitals. */
export function secretName(source: string, scheme: string): string {
  return `${source}_${scheme}`
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toUpperCase();
}
