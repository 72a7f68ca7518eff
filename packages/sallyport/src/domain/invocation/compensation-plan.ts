import type { KeptMembers } from './result-members.ts';

/** How a side effect is compensated: another tool, called with the arguments and the result of the call. */
export interface CompensationPlan {
  readonly toolId: string;
  /** The arguments that the call ran with. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Of a result that the row keeps only in part; absent when it keeps the whole. */
  readonly resultMembers?: KeptMembers;
  /** Nobody knows the result: its outcome was unknown, and who settled it stated none. Never stored. */
  readonly isResultUnknown?: true;
}
