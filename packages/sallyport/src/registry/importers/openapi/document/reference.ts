import { asNode, type Node } from './json.ts';
import { NotImportable } from './not-importable.ts';

/** Longest chain of references to references. */
const CHAIN_MAX = 16;

/**
 * The JSON Pointer of a reference into the same document.
 * @throws NotImportable for one that leaves the document: nothing is ever fetched or read from disk
 */
export function localPointer(reference: string): string {
  if (reference !== '#' && !reference.startsWith('#/')) {
    const shown = JSON.stringify(reference.slice(0, 120));
    throw new NotImportable(`it refers to ${shown}, outside the document; bundle the document into one file first`);
  }
  if (!reference.includes('%')) return reference.slice(1);
  try {
    return decodeURIComponent(reference.slice(1));
  } catch {
    return reference.slice(1);
  }
}

/**
 * The value at a pointer.
 * @throws NotImportable when there is none
 */
export function atPointer(root: Node, pointer: string): unknown {
  let value: unknown = root;
  for (const segment of pointer === '' ? [] : pointer.slice(1).split('/')) {
    const key = segment.includes('~') ? segment.replaceAll('~1', '/').replaceAll('~0', '~') : segment;
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) {
      throw new NotImportable(`it refers to ${JSON.stringify(`#${pointer}`.slice(0, 120))}, which does not exist`);
    }
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/**
 * The object of a value that may be a reference; undefined when it is no object.
 * @throws NotImportable for references that lead nowhere, outside or in a cycle
 */
export function follow(root: Node, value: unknown): Node | undefined {
  let node = asNode(value);
  for (let links = 0; typeof node?.['$ref'] === 'string'; links += 1) {
    if (links === CHAIN_MAX)
      throw new NotImportable(`its references lead in a circle at ${node['$ref'].slice(0, 120)}`);
    node = asNode(atPointer(root, localPointer(node['$ref'])));
  }
  return node;
}
