import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../scripts/project-files.ts';

/** Set to 1, what the tests found is written into the documents instead of compared with them. */
const WRITE = 'SALLYPORT_WRITE_TABLES';

/** What a document should say between the two marks of this name, and what it says. */
export interface TableOfDocument {
  readonly said: string;
  readonly found: string;
}

/** Compares a table with the one of a document, or writes it there. @throws Error when the document has no such marks */
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
