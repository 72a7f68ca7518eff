import type { HookMatch, HookPlace } from '../hook.ts';

/** One webhook, as an operator describes it. */
export interface WebhookSettings {
  readonly id: string;
  readonly at: HookPlace;
  readonly url: string;
  /** Name of the secret that both ends sign with: `whsec_` and base64, or any text; 24 bytes at least. */
  readonly secret: string;
  readonly match?: HookMatch;
  /** 5 000 when absent. */
  readonly timeoutMs?: number;
  /** False when absent. */
  readonly failOpen?: boolean;
  /** Whether an answer counts only when it is signed; true when absent. */
  readonly signedAnswers?: boolean;
}
