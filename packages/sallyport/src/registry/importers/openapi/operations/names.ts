import { type IsRegistered, importedId, plainName, shortened, TOOL_ID_CHARS_MAX } from '../../../foreign/tool-ids.ts';

/** Longest prefix of tool ids; the contract of the import allows no more. */
const SOURCE_CHARS_MAX = 40;

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

/** Longest id that earlier releases made. */
const FORMER_CHARS_MAX = 64;
/** Room for a number that makes an operation's id unique. */
const NUMBER_CHARS = 5;

/** Gives each operation of a document a unique id, the same at every import. */
export function toolIds(
  source: string,
  isRegistered?: IsRegistered,
): (operationId: string | undefined, method: string, path: string) => string {
  const taken = new Set<string>();
  const takenFormerly = new Set<string>();
  return (operationId, method, path) => {
    const own = plainName(operationId ?? '') || plainName(`${method}_${path}`) || method;
    const whole = shortened(`${source}__${own}`, FORMER_CHARS_MAX);
    const former = numbered(whole, takenFormerly, FORMER_CHARS_MAX);
    takenFormerly.add(former);
    const base = importedId(source, own, former, isRegistered);
    const id = base === former && !taken.has(base) ? base : numbered(base, taken, TOOL_ID_CHARS_MAX);
    taken.add(id);
    return id;
  };
}

function numbered(base: string, taken: ReadonlySet<string>, charsMax: number): string {
  let id = base;
  for (let next = 2; taken.has(id); next += 1) id = `${base.slice(0, charsMax - NUMBER_CHARS)}_${next}`;
  return id;
}

/** The name of a secret: `<SOURCE>_<SCHEME>` in capitals. */
export function secretName(source: string, scheme: string): string {
  return `${source}_${scheme}`
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toUpperCase();
}
