import type { Failure } from '@sallyport/std/error/failure';
import type { CapabilityClaims } from '../../api/schemas/capability-token.ts';
import type { ApprovalBinding, ApprovalRequest, ConfirmationReason } from '../domain/invocation/waiting-call.ts';
import type { ToolVersion } from '../domain/tool/tool-version.ts';

/** A call for which a person has to be asked. */
export interface ApprovalQuestion {
  readonly reason: ConfirmationReason;
  readonly binding: ApprovalBinding;
  /** Who asked. */
  readonly claims: CapabilityClaims;
  readonly tool: ToolVersion;
  /** In the words of the manifest or the activation. */
  readonly prompt?: string;
}

/** Where people are asked (ORC-03, ORC-05). */
export interface ApprovalQuestions {
  /**
   * Whether a standing rule says yes to this call already. What an executor asks is answered only by a rule that was made
   * for that reason, for the very same arguments. At once: rules are held in memory.
   */
  standing(question: ApprovalQuestion): boolean;
  /**
   * The question, with its id and its end; nobody is told of it before the call stands on record.
   * @returns E3807 where nobody could answer
   */
  question(question: ApprovalQuestion): ApprovalRequest | Failure;
}
