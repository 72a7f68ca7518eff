import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../scripts/project-files.ts';

/** Set this variable to 1 to write the results of the tests into the documents, instead of comparing them. */
const WRITE = 'SALLYPORT_WRITE_TABLES';

/** The text of a table in a document, and the text that the tests found. */
export interface TableOfDocument {
  readonly said: string;
  readonly found: string;
}

/**
 * Compares rows with a table in a document, or writes them there. @throws Error when the document has no marks for the
 * table
 */
export function tableOfDocument(document: string, name: string, rows: readonly string[]): TableOfDocument {
  const file = join(ROOT, document);
  const text = readFileSync(file, 'utf8');
  const [begin, end] = [`<!-- ${name}, written by the tests of test/published -->\n`, `<!-- end of ${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`${document} has no marks of the table ${name}`);
  const found = `\n${rows.join('\n')}\n\n`;
  const start = from + begin.length;
  if (process.env[WRITE] !== '1') return { said: text.slice(start, to), found };
  writeFileSync(file, text.slice(0, start) + found + text.slice(to));
  return { said: found, found };
}
