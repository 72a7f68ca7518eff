import type { RedactionKind } from './kinds.ts';
import type { Traits } from './traits.ts';

/** A sensitive place of one text, end exclusive, in UTF-16 units. */
export interface Span {
  readonly kind: RedactionKind;
  readonly rule: string;
  readonly start: number;
  readonly end: number;
}

/** One text under examination. */
export interface Scan {
  readonly text: string;
  readonly traits: Traits;
  /** Name of the field that the text is the value of; empty for none. */
  readonly name: string;
  add(kind: RedactionKind, rule: string, start: number, end: number): void;
}

/** Finds places of one family and adds them; time is linear in the text. */
export interface Family {
  readonly kinds: readonly RedactionKind[];
  /** False when the text cannot hold anything of this family. */
  mayHold(traits: Traits): boolean;
  find(scan: Scan): void;
}
