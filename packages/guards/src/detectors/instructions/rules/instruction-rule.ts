/** A class of text that does not belong in a tool's description, or in its output. */
export interface InstructionRule {
  /** In kebab-case; several rows may report the same class. */
  readonly rule: string;
  /**
   * Weight of one occurrence, 0 to 1; those of different rules add up as independent evidence. 0.5 is enough by itself.
   */
  readonly weight: number;
  /** A sentence for people. */
  readonly why: string;
  /** All must match within one reach, in lower case with single spaces. Rarest first: most texts fail at it. */
  readonly all: readonly RegExp[];
  /** None may match. */
  readonly none?: readonly RegExp[];
  /** Number of sentences judged together. Default 1. */
  readonly reach?: 1 | 2;
  /** Kind of text that it applies to. Default both. */
  readonly only?: 'description' | 'output';
}
