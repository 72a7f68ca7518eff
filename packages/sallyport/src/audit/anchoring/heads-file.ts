import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { HeadsPlace, KeptHeads } from './kept-heads.ts';

/**
 * Keeps heads in a small file: each write makes a new file beside the old one and renames it. The folder must exist.
 */
export function headsFile(path: string): HeadsPlace {
  return {
    async read() {
      const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
        if (cause.code === 'ENOENT') return undefined;
        throw cause;
      });
      return text === undefined ? undefined : keptHeadsOf(text);
    },
    async write(kept) {
      const draft = `${path}.new`;
      await using file = await open(draft, 'w', 0o600);
      await file.writeFile(`${JSON.stringify(kept, undefined, 2)}\n`);
      await file.datasync();
      await rename(draft, path);
      await using folder = await open(dirname(path), 'r');
      await folder.datasync();
    },
  };
}

/** @throws when the text is not what `write` writes; signatures are not checked here */
function keptHeadsOf(text: string): KeptHeads {
  const { begun, heads } = JSON.parse(text) as KeptHeads;
  const isWhole = typeof begun.time === 'string' && Number.isSafeInteger(begun.events) && heads.every(isHead);
  if (!isWhole) throw new TypeError('it does not hold what the layer writes there');
  return { begun, heads };
}

const TEXTS = ['chain_id', 'hash', 'time', 'key_id', 'signature'] as const;

const isHead = (head: KeptHeads['heads'][number]): boolean =>
  Number.isSafeInteger(head.seq) && TEXTS.every((name) => typeof head[name] === 'string');
