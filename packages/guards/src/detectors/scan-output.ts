import { KiB, MiB } from '@sallyport/std/bytes';
import { ENOUGH, judgeText, scoreOf } from './instructions/judge-text.ts';
import { textsBelow } from './instructions/texts-of.ts';

/** Something in a result that speaks to the model as if it had a say. */
export interface OutputFinding {
  /** The class, in kebab-case; the table is in docs/detectors.md. */
  readonly rule: string;
  /** JSON Pointer to the text, or to the member whose name it is; empty for a result that is a text. */
  readonly path: string;
  /** Place in that text, in UTF-16 units; the sentence around it where it was found in one. */
  readonly start: number;
  readonly end: number;
}

/** What a scan says. The result itself stays as it is: whoever shows it to a model marks it. */
export interface OutputVerdict {
  /** Whether the result is to be shown to a model as data that may hold orders of somebody else. */
  readonly tainted: boolean;
  /** Whether everything was judged; false when there was more text than is. */
  readonly complete: boolean;
  /** In the order of the texts, at most 100; only of texts that taint. */
  readonly findings: readonly OutputFinding[];
}

/** Text of one result that is judged, in UTF-16 units. */
const TEXT_CHARS_MAX = MiB;
/** Text that is judged in one piece, and by how much pieces overlap, so that no demand falls between two. */
const PIECE_CHARS = 32 * KiB;
const PIECE_OVERLAP = 1024;
const FINDINGS_MAX = 100;

/**
 * Judges what a tool returned for instructions that somebody hid in it, in a page, a mail, a file or an error (indirect
 * prompt injection). Nothing is deleted: a text about attacks is worth reading too. Bounded in time for any value.
 * @param value as JSON reads it
 */
export function scanOutput(value: unknown): OutputVerdict {
  const steps = scanning(value);
  for (;;) {
    const { done, value: verdict } = steps.next();
    if (done === true) return verdict;
  }
}

/**
 * The same, for large values beside other work.
 * @param pause asked after each piece of text; what it gives is awaited before the next
 */
export async function scanOutputInTurns(
  value: unknown,
  pause: () => Promise<void> | undefined,
): Promise<OutputVerdict> {
  const steps = scanning(value);
  for (;;) {
    const { done, value: verdict } = steps.next();
    if (done === true) return verdict;
    const paused = pause();
    if (paused !== undefined) await paused;
  }
}

/** Yields after each piece of text. */
function* scanning(value: unknown): Generator<void, OutputVerdict, void> {
  const findings: OutputFinding[] = [];
  let left = TEXT_CHARS_MAX;
  for (const [path, text] of textsBelow(value, '')) {
    for (const [start, piece] of piecesOf(text.slice(0, Math.max(0, left)))) {
      const evidence = judgeText(piece, 'output');
      yield;
      if (evidence.length === 0 || scoreOf(evidence) < ENOUGH) continue;
      for (const found of evidence) {
        findings.push({ rule: found.rule, path, start: start + found.start, end: start + found.end });
      }
    }
    left -= text.length;
    if (left < 0 || findings.length >= FINDINGS_MAX) break;
  }
  return { tainted: findings.length > 0, complete: left >= 0, findings: findings.slice(0, FINDINGS_MAX) };
}

function* piecesOf(text: string): Generator<[start: number, piece: string]> {
  for (let at = 0; at === 0 || at + PIECE_OVERLAP < text.length; at += PIECE_CHARS - PIECE_OVERLAP) {
    yield [at, text.slice(at, at + PIECE_CHARS)];
  }
}
