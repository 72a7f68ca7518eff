import type { Stage } from '../stage.ts';

type AnyStage = Stage<never, object>;

/** The members that a stage lacks at its place in the list, as the compiler shows them. */
interface StandsTooEarly<Lacks> {
  readonly standsTooEarly: Lacks;
}

/**
 * Walks the list and adds up what is established; a stage that needs more than that becomes a type that nothing fits.
 */
export type Ordered<Have, Stages extends readonly AnyStage[]> = Stages extends readonly [
  infer Head,
  ...infer Rest extends readonly AnyStage[],
]
  ? Head extends Stage<infer Needs, infer Adds>
    ? [Have] extends [Needs]
      ? readonly [Head, ...Ordered<Have & Adds, Rest>]
      : readonly [StandsTooEarly<Exclude<keyof Needs, keyof Have>>, ...Rest]
    : never
  : readonly [];

/**
 * A list of stages in which each finds what it needs: a stage placed before what it needs does not compile, so without
 * `authorize` there is no `execute` (PIPE-02).
 */
export const inOrder =
  <Start>() =>
  <const Stages extends readonly AnyStage[]>(...stages: Stages & Ordered<Start, Stages>): Stages =>
    stages;
