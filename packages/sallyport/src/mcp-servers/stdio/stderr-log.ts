import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { redact } from '@sallyport/guards';
import { KiB } from '@sallyport/std/bytes';

const LINES_MAX = 500;
const CHARS_MAX = 256 * KiB;
/** Longer lines are cut. */
const LINE_CHARS_MAX = 4 * KiB;
/** Shown part of a line: a secret that the cut split is in the hidden rest. */
const LINE_CHARS_SHOWN = 2 * KiB;

/** The last stderr lines of an upstream, across all its starts. */
export interface StderrLog {
  /** Follows the stream of one start. @param hide removes this start's secrets from a text */
  follow(stream: Readable, hide: (text: string) => string): void;
  /** Lines after the given number, without secrets, and the number of the last line. */
  read(after: number): { readonly lines: readonly string[]; readonly next: number };
}

interface Line {
  readonly text: string;
  readonly hide: (text: string) => string;
}

export function createStderrLog(): StderrLog {
  const kept: Line[] = [];
  let chars = 0;
  let count = 0;
  const add = (line: Line): void => {
    kept.push(line);
    chars += line.text.length;
    count += 1;
    while (kept.length > LINES_MAX || chars > CHARS_MAX) chars -= kept.shift()?.text.length ?? 0;
  };
  return {
    follow(stream, hide) {
      const decoder = new StringDecoder('utf8');
      let open = '';
      const take = (text: string): void => {
        const lines = (open + text).split('\n');
        open = (lines.pop() ?? '').slice(0, LINE_CHARS_MAX);
        for (const line of lines) add({ text: line.slice(0, LINE_CHARS_MAX).replace(/\r$/, ''), hide });
      };
      stream.on('data', (chunk: Buffer) => take(decoder.write(chunk)));
      stream.once('end', () => open !== '' && take('\n'));
    },
    read(after) {
      const first = count - kept.length;
      // A number from before a restart of the layer has no meaning here.
      const lines = kept.slice(Math.max(0, (after > count ? 0 : after) - first));
      return { lines: lines.map(shown), next: count };
    },
  };
}

function shown({ text, hide }: Line): string {
  const safe = String(redact(hide(text)).value);
  return text.length < LINE_CHARS_MAX && safe.length <= LINE_CHARS_SHOWN ? safe : `${safe.slice(0, LINE_CHARS_SHOWN)}…`;
}
