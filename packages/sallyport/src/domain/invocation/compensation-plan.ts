/** How a side effect is compensated: another tool, called with the arguments and the result of the call. */
export interface CompensationPlan {
  readonly toolId: string;
  /** The arguments that the call ran with. */
  readonly parameters: Readonly<Record<string, unknown>>;
}
