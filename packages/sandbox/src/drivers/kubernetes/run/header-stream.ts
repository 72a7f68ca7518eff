import { type Readable, Transform } from 'node:stream';
import { type Header, readHeader } from '../exec/launcher.ts';
import { KUBERNETES_SIZES } from '../settings.ts';

/** The tool's own output, and the launcher's header. */
export interface HeaderStream {
  readonly stdout: Readable;
  /** Undefined until the launcher wrote it, or when it never did. */
  header(): Header | undefined;
}

/** Removes the launcher's line from the beginning of an output. */
export function takeHeader(source: Readable, word: string): HeaderStream {
  let held: Buffer | undefined = Buffer.alloc(0);
  let header: Header | undefined;
  const stdout = new Transform({
    highWaterMark: KUBERNETES_SIZES.outputBufferBytes,
    transform(part: Buffer, _encoding, done) {
      if (held === undefined) return done(null, part);
      const seen = Buffer.concat([held, part]);
      const found = readHeader(seen, word);
      held = found === 'wait' ? seen : undefined;
      if (found === 'wait') return done();
      header = found?.header;
      done(null, found === undefined ? seen : found.rest);
    },
    flush(done) {
      done(null, held);
    },
  });
  // Nobody reads any more: the rest is discarded, so that the end of the tool is still noticed.
  stdout.once('close', () => source.resume());
  stdout.on('error', () => {});
  source.pipe(stdout);
  return { stdout, header: () => header };
}
