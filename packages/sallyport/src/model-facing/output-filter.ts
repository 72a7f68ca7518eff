/** A call whose result is filtered, as filters see it. */
export interface FilteredCall {
  readonly toolId: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The program and its arguments in one line, as a shell tool ran them; absent for all other tools. */
  readonly command?: string;
}

/**
 * How well a filter knows what it filtered (MOD-06). `full`: it decided on every line; `partial`: some lines were new to
 * it; `fallback`: the text is not what it is for, and stays as it is.
 */
export type FilterConfidence = 'full' | 'partial' | 'fallback';

/** What a filter made of a text. With `fallback` the text is not used. */
export interface FilteredText {
  readonly text: string;
  readonly confidence: FilterConfidence;
}

/**
 * Shortens results for models (MOD-06). It is no means to keep anything secret: what it leaves out can be read with
 * `read_overflow`.
 */
export interface OutputFilter {
  /** Name in warnings and counts; letters, digits, `.`, `_`, `-`. */
  readonly id: string;
  /** Asked for every call that succeeded or whose tool reports an error. */
  matches(call: FilteredCall): boolean;
  /**
   * Called for each text of the result that has a line break. Throwing counts as `fallback`.
   * @param pause called between the steps of long work and awaited when it returns a promise, so that other calls get
   *   their turn
   */
  filter(
    text: string,
    call: FilteredCall,
    pause: () => Promise<void> | undefined,
  ): FilteredText | Promise<FilteredText>;
}

/** The use of one filter in an instance, since its start. */
export interface FilterCount {
  readonly filter: string;
  /** Results that it was asked to filter, by its confidence. */
  readonly full: number;
  readonly partial: number;
  readonly fallback: number;
  /** Characters of the texts that it filtered, before and after, without those of `fallback`. */
  readonly charactersBefore: number;
  readonly charactersAfter: number;
}
