import { enoughTogether, judgeText } from './instructions/judge-text.ts';
import { textsBelow } from './instructions/texts-of.ts';
import { type Pause, piecesOf, TEXT_CHARS_MAX } from './text-pieces.ts';

/** A part of a result that gives the model orders. */
export interface OutputFinding {
  /** The class, in kebab-case; the table is in docs/detectors.md. */
  readonly rule: string;
  /** JSON Pointer to the text, or to the member whose name it is; empty for a result that is a text. */
  readonly path: string;
  /** Position in that text, in UTF-16 units; of the surrounding sentence when it was found in one. */
  readonly start: number;
  readonly end: number;
}

/** Result of a scan. The tool's result is unchanged: the caller marks it when showing it to a model. */
export interface OutputVerdict {
  /** True when a model should see the result as data that may contain foreign orders. */
  readonly tainted: boolean;
  /** False when there was too much text to judge all of it. */
  readonly complete: boolean;
  /** In the order of the texts, at most 100; only of tainted texts. */
  readonly findings: readonly OutputFinding[];
}

const FINDINGS_MAX = 100;

/**
 * Judges a tool's output for hidden instructions in a page, a mail, a file or an error (indirect prompt injection).
 * Nothing is deleted: a text about attacks is worth reading too. Limited in time for any value.
 * @param value as parsed from JSON
 */
export function scanOutput(value: unknown): OutputVerdict {
  const steps = scanning(value);
  for (;;) {
    const { done, value: verdict } = steps.next();
    if (done === true) return verdict;
  }
}

/**
 * As scanOutput, for large values beside other work.
 * @param pause called and awaited after each piece of text
 */
export async function scanOutputInTurns(value: unknown, pause: Pause): Promise<OutputVerdict> {
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
      for (const found of enoughTogether(evidence)) {
        findings.push({ rule: found.rule, path, start: start + found.start, end: start + found.end });
      }
    }
    left -= text.length;
    if (left < 0 || findings.length >= FINDINGS_MAX) break;
  }
  return { tainted: findings.length > 0, complete: left >= 0, findings: findings.slice(0, FINDINGS_MAX) };
}
