/** What came of a language model's judgement of a call, as record and audit have it (PRM-08). Nothing of it is the model's words. */
export interface GateDecision {
  readonly allowed: boolean;
  /** What the model said; UNANSWERED when it said neither, and then the operator's setting decides. */
  readonly answer: 'ALLOW' | 'DENY' | 'UNANSWERED';
  /** Why there is no answer: `timeout`, `too_large`, `not_one_word`, `not_redacted`, or the code of the model's failure. */
  readonly because?: string;
  readonly model: string;
  /** First characters of the hash over the policies that the call was judged by. */
  readonly version: string;
  readonly ms: number;
}
