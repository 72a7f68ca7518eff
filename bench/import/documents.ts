import { existsSync, readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../../../shared/corpora/openapi/specs/', import.meta.url);
const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

/** One public document as text, and how many operations it holds. */
export interface PublicDocument {
  readonly name: string;
  readonly text: string;
  readonly operations: number;
}

/** The documents in order of their names; none when the folder is not there. */
export function publicDocuments(): readonly PublicDocument[] {
  if (!existsSync(FOLDER)) return [];
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => {
      const text = readFileSync(new URL(name, FOLDER), 'utf8');
      return { name, text, operations: operationsIn(text) };
    });
}

function operationsIn(text: string): number {
  const { paths = {} } = JSON.parse(text) as { paths?: Record<string, Record<string, unknown>> };
  return Object.values(paths).reduce(
    (sum, item) => sum + Object.keys(item).filter((key) => METHODS.has(key)).length,
    0,
  );
}
