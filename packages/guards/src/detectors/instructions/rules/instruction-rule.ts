/** A class of text that has no place in what a tool says of itself, or in what it returns. */
export interface InstructionRule {
  /** In kebab-case; several rows may tell of the same class. */
  readonly rule: string;
  /** How much one occurrence says, 0 to 1; those of different rules add up as independent evidence. 0.5 is enough by itself. */
  readonly weight: number;
  /** A sentence for people. */
  readonly why: string;
  /** All have to be found in one reach, in lower case with single spaces. The rarest first: most texts are done with it. */
  readonly all: readonly RegExp[];
  /** None may be found. */
  readonly none?: readonly RegExp[];
  /** Sentences that are judged together. Default 1. */
  readonly reach?: 1 | 2;
  /** Where it counts. Default both. */
  readonly only?: 'description' | 'output';
}
