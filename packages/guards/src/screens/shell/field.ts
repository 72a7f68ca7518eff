/** Where a text comes from; `text` is the script itself. */
export type Origin = 'text' | 'file' | 'unknown' | 'decoder' | 'network';

/** One word as a program gets it, as far as known without running anything. */
export interface Field {
  /** The word, or the best guess: unknown parts count as empty. */
  readonly text: string;
  /** True when the guess is the complete word. */
  readonly certain: boolean;
  /** True when something unknown was taken as empty. */
  readonly blank: boolean;
  /** Whether the shell would still match it against file names. */
  readonly glob: boolean;
  readonly origin: Origin;
  /** Whether a credential or key is in it. */
  readonly secret?: boolean;
}

/** Bytes that flow from one command into another. */
export interface Stream {
  /** The whole text, or undefined when unknown. */
  readonly text: string | undefined;
  readonly certain: boolean;
  readonly origin: Origin;
  /** Whether a credential or key flows in it. */
  readonly secret: boolean;
  /** True for a shell's answer to commands that are not known. */
  readonly fromShell?: true;
}

/** A stream that is read line by line. */
export interface Input {
  readonly stream: Stream;
  /** Number of characters already read. */
  taken: number;
}

const RANK: Readonly<Record<Origin, number>> = { text: 0, file: 1, unknown: 2, decoder: 3, network: 4 };

/** The less trustworthy of two origins. */
export function worseOrigin(a: Origin, b: Origin): Origin {
  return RANK[a] >= RANK[b] ? a : b;
}

/** A word that is known. */
export function literal(text: string): Field {
  return { text, certain: true, blank: false, glob: false, origin: 'text' };
}

/** A completely unknown word. */
export function unknownField(origin: Origin = 'unknown'): Field {
  return { text: '', certain: false, blank: true, glob: false, origin };
}

/** A stream that is known. */
export function knownStream(text: string, certain = true, origin: Origin = 'text'): Stream {
  return { text, certain, origin, secret: false };
}

/** A stream of which only the origin is known. */
export function unknownStream(origin: Origin = 'unknown', secret = false): Stream {
  return { text: undefined, certain: false, origin, secret };
}

export const EMPTY_STREAM: Stream = knownStream('');

/** The unread rest of an input. */
export function restOf(input: Input | undefined): Stream | undefined {
  if (input === undefined) return undefined;
  const { stream, taken } = input;
  return taken === 0 || stream.text === undefined ? stream : { ...stream, text: stream.text.slice(taken) };
}

/** One stream after the other. */
export function joinStreams(first: Stream, second: Stream): Stream {
  if (first === EMPTY_STREAM) return second;
  if (second === EMPTY_STREAM) return first;
  const isUnknown = first.text === undefined && second.text === undefined;
  return {
    // The known part is still worth examining.
    text: isUnknown ? undefined : (first.text ?? '') + (second.text ?? ''),
    certain: first.certain && second.certain,
    origin: worseOrigin(first.origin, second.origin),
    secret: first.secret || second.secret,
  };
}

/** Characters of a command that are shown. */
const LINE_MAX = 200;

/** Words as one line, for a message. */
export function lineOf(fields: readonly Field[]): string {
  let line = '';
  for (const { text, blank } of fields) {
    if (line.length > LINE_MAX) break;
    line += `${line === '' ? '' : ' '}${text === '' && blank ? '?' : text.slice(0, LINE_MAX)}`;
  }
  return line.slice(0, LINE_MAX);
}
