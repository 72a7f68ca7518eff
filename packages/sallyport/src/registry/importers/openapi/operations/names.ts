import { importedId, plainName, shortened, TOOL_ID_CHARS_MAX } from '../../../foreign/tool-ids.ts';
import type { KnownIds } from '../../../importer.port.ts';

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

/** What names an operation. */
export interface NamedOperation {
  readonly operationId: string | undefined;
  readonly method: string;
  /** Its path in the document. */
  readonly place: string;
  /** Its path as it is sent, under which its tool is registered. */
  readonly template: string;
}

/**
 * Gives each operation of a document a unique id, the same at every import. Where several have one name, registered operations
 * keep their ids, in whatever order a document lists them; each other one gets a number.
 * @param operations of the whole document
 */
export function toolIds(
  source: string,
  { isRegistered, operationOf = () => undefined }: KnownIds,
  operations: readonly NamedOperation[],
): (operation: NamedOperation) => string {
  const taken = new TakenIds();
  const takenFormerly = new TakenIds();
  const namesakes = Map.groupBy(operations, ownName);
  /** What the operations of each name send. */
  const sentBy = new Map([...namesakes].map(([own, all]) => [own, new Set(all.map(sentOf))]));
  return (operation) => {
    const own = ownName(operation);
    const rivals = sentBy.get(own);
    const whole = shortened(`${source}__${own}`, FORMER_CHARS_MAX);
    const former = takenFormerly.first({ base: whole, charsMax: FORMER_CHARS_MAX }, () => true);
    takenFormerly.add(former);
    const base = importedId(source, own, former, isRegistered);
    const ids = base === former ? { base: whole, charsMax: FORMER_CHARS_MAX } : { base, charsMax: TOOL_ID_CHARS_MAX };
    const sent = sentOf(operation);
    const isFree = (id: string): boolean => {
      const holder = operationOf(id);
      return holder === undefined || holder === sent || rivals?.has(holder) !== true;
    };
    const ownOrNew = (id: string): boolean => operationOf(id) === undefined || operationOf(id) === sent;
    const known = taken.first(ids, ownOrNew);
    const id = operationOf(known) === sent ? known : taken.first(ids, isFree);
    taken.add(id);
    return id;
  };
}

const ownName = ({ operationId, method, place }: NamedOperation): string =>
  plainName(operationId ?? '') || plainName(`${method}_${place}`) || method;

const sentOf = ({ method, template }: Pick<NamedOperation, 'method' | 'template'>): string => `${method} ${template}`;

/** The ids of namesakes. */
interface NumberedIds {
  readonly base: string;
  /** Longest of the numbered ones. */
  readonly charsMax: number;
}

const numbered = ({ base, charsMax }: NumberedIds, number: number): string =>
  number === 1 ? base : `${base.slice(0, charsMax - NUMBER_CHARS)}_${number}`;

/** Ids that operations of the document have. */
class TakenIds {
  readonly #ids = new Set<string>();
  /** By base, the lowest number that is not taken: thousands of operations may have one name. */
  readonly #lowest = new Map<string, number>();

  add(id: string): void {
    this.#ids.add(id);
  }

  /** The base, else the first of its numbered ids, that is not taken and meets a condition. */
  first(ids: NumberedIds, meets: (id: string) => boolean): string {
    let lowest = this.#lowest.get(ids.base) ?? 1;
    while (this.#ids.has(numbered(ids, lowest))) lowest += 1;
    this.#lowest.set(ids.base, lowest);
    for (let number = lowest; ; number += 1) {
      const id = numbered(ids, number);
      if (!this.#ids.has(id) && meets(id)) return id;
    }
  }
}

/** The name of a secret: `<SOURCE>_<SCHEME>` in capitals. */
export function secretName(source: string, scheme: string): string {
  return `${source}_${scheme}`
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toUpperCase();
}
