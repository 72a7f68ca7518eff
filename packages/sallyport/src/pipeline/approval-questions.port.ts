import type { Failure } from '@sallyport/std/error/failure';
import type { CapabilityClaims } from '../../api/schemas/capability-token.ts';
import type { ApprovalBinding, ApprovalRequest, ConfirmationReason } from '../domain/invocation/waiting-call.ts';
import type { ToolVersion } from '../domain/tool/tool-version.ts';

/** A call that needs a person's approval or confirmation. */
export interface ApprovalQuestion {
  readonly reason: ConfirmationReason;
  readonly binding: ApprovalBinding;
  /** Who asked. */
  readonly claims: CapabilityClaims;
  readonly tool: ToolVersion;
  /** Text of the manifest or of the activation. */
  readonly prompt?: string;
}

/** Asks people for approval (ORC-03, ORC-05). */
export interface ApprovalQuestions {
  /**
   * The standing rule that already approves this call, as `rule:` and its id; undefined when there is none. A question
   * of an executor is answered only by a rule that was made for that reason and for exactly the same arguments.
   * Synchronous: rules are held in memory.
   */
  standing(question: ApprovalQuestion): string | undefined;
  /**
   * The question, with its id and its expiry; nobody is notified of it before the call is on record.
   * @returns E3807 when nobody could answer
   */
  question(question: ApprovalQuestion): ApprovalRequest | Failure;
}
