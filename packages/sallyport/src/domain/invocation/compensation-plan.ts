/** How what a call left behind is taken back: another tool, called with what the call got and gave. */
export interface CompensationPlan {
  readonly toolId: string;
  /** The arguments that the call ran with. */
  readonly parameters: Readonly<Record<string, unknown>>;
}
