import type { RedactionKind } from './kinds.ts';
import type { Reading } from './reading.ts';

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
  readonly reading: Reading;
  /** Name of the field whose value the text is; empty for none. */
  readonly name: string;
  add(kind: RedactionKind, rule: string, start: number, end: number): void;
  /** True when an earlier family found a place that contains this one: finding it again changes nothing. */
  isFound(start: number, end: number): boolean;
}

/** Finds places of one family and adds them; time is linear in the text. */
export interface Family {
  readonly kinds: readonly RedactionKind[];
  /** Sets of bits of SIGN: a text that lacks a bit of every set has nothing for this family. */
  readonly signs: readonly number[];
  find(scan: Scan): void;
}
