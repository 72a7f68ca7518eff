import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KiB } from '@sallyport/std/bytes';
import asc from 'assemblyscript/asc';
import { instantiate, numberOf } from '../packages/guards/src/detectors/injection/lexer/instantiate.ts';
import { ROOT } from './project-files.ts';

const FOLDER = 'packages/guards/src/detectors/injection/lexer';
/** Pages of 64 KiB: the memory never grows, for then everything that looks into it would have to look anew. */
const PAGES = 43;
const PAGE_BYTES = 64 * KiB;
const OPTIONS = [
  '-O3',
  '--noAssert',
  '--runtime',
  'stub',
  '--initialMemory',
  `${PAGES}`,
  '--maximumMemory',
  `${PAGES}`,
];
const LINE_CHARS = 116;

/** The module that holds the lexer of `assembly/`, compiled to WebAssembly. */
export async function lexerModule(): Promise<string> {
  let binary = new Uint8Array();
  const messages: string[] = [];
  const { error } = await asc.main(['assembly/index.ts', ...OPTIONS, '--outFile', 'lexer.wasm'], {
    readFile: (name) => textOf(join(ROOT, FOLDER, name)),
    writeFile: (_name, contents) => {
      if (typeof contents !== 'string') binary = new Uint8Array(contents);
    },
    listFiles: () => [],
    stderr: { write: (chunk) => void messages.push(String(chunk)) },
  });
  if (error !== null) throw new Error(`The lexer does not compile:\n${messages.join('')}`, { cause: error });
  const pages = pagesOf(binary);
  if (pages !== PAGES) throw new Error(`The lexer takes ${pages} pages of memory, not ${PAGES}.`);
  const text = Buffer.from(binary)
    .toString('base64')
    .replaceAll(new RegExp(`.{${LINE_CHARS}}`, 'g'), '$&\n')
    .trim();
  return [
    '// Written by `npm run generate` from assembly/. Change it there.',
    '',
    '/** The compiled lexer, in base64. */',
    `export const LEXER = \`\n${text}\n\`;`,
    '',
  ].join('\n');
}

/** How many pages the last address takes in. */
function pagesOf(binary: Uint8Array): number {
  return Math.ceil(numberOf(instantiate(binary), 'MEMORY_END') / PAGE_BYTES);
}

/** Null for what is not there, as the compiler wants it: it tries several names. */
function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
