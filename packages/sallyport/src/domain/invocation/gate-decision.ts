/**
 * The outcome of a language model's judgement of a call, in record and audit (PRM-08). It contains none of the model's
 * words.
 */
export interface GateDecision {
  readonly allowed: boolean;
  /** The model's answer; UNANSWERED when it gave neither word: then the operator's setting decides. */
  readonly answer: 'ALLOW' | 'DENY' | 'UNANSWERED';
  /**
   * Why there is no answer: `timeout`, `too_large`, `not_one_word`, `not_redacted`, or the code of the model's failure.
   */
  readonly because?: string;
  readonly model: string;
  /** First characters of the hash over the policies that the model was given. */
  readonly version: string;
  readonly ms: number;
}
