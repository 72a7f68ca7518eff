import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { ToolInvokeRequest } from '../../../api/schemas/invocation.ts';
import type { ServerTask } from './tasks/server-task.ts';

/** Why a call needs a person to continue. */
export type ConfirmationReason =
  | 'requires_approval'
  | 'require_approval'
  | 'requires_confirmation'
  | 'policy'
  | 'trust'
  | 'executor';

/** What an approval is bound to: exactly this call (ORC-05). */
export interface ApprovalBinding {
  readonly tenantId: string;
  readonly agentDid: string;
  readonly userDid?: string;
  readonly toolId: string;
  readonly toolVersion: string;
  /** SHA-256 of the tool's definition, hex. */
  readonly contentHash: string;
  /** SHA-256 over the canonical arguments, hex. */
  readonly inputHash: string;
  /** Version of the policies at the time of the question. */
  readonly policyVersion: string;
  /** The executor's question about the call; an approval does not answer another question. */
  readonly question?: string;
}

/** A question to a person. It never changes; its outcome is stored elsewhere. */
export interface ApprovalRequest {
  readonly approvalId: string;
  readonly reason: ConfirmationReason;
  /** The prompt for the person, from the tool's manifest or activation. */
  readonly prompt?: string;
  readonly binding: ApprovalBinding;
  /** Epoch ms. */
  readonly requestedAt: number;
  /** Epoch ms; after this nobody can approve any more. */
  readonly expiresAt: number;
}

/** An approval, as it is handed to the call that it resumes. */
export interface GivenApproval {
  readonly approvalId: string;
  readonly binding: ApprovalBinding;
  /** Epoch ms. */
  readonly expiresAt: number;
  /** Who approved, for the audit; absent in an approval of an earlier version. */
  readonly by?: string;
}

/** What a waiting call waits for: a person's approval; or a worker, with the executor's question that was answered. */
export type WaitFor =
  | { readonly for: 'approval'; readonly approval: ApprovalRequest }
  | { readonly for: 'worker'; readonly confirmed: boolean; readonly question?: string; readonly approvedBy?: string };

/** What the caller of a call with an id or a key asked for: a request that asks for the same repeats it. */
export interface AskedFor {
  /** Version, range or `latest`. */
  readonly version: string;
  /** SHA-256 over the canonical arguments, hex. */
  readonly inputHash: string;
}

/**
 * An accepted call that runs later, with everything needed for that. It is in the row of the call until the call is
 * final, so that accepting it is one write (system design §4).
 */
export interface WaitingCall {
  /** The request without its token; with the version that was found and the validated parameters. */
  readonly request: ToolInvokeRequest;
  /** The tool that the call was accepted for, whatever the name in its request means later. */
  readonly tool?: { readonly toolId: string; readonly contentHash: string };
  /** Claims of the caller. The token itself is not kept. */
  readonly claims: CapabilityClaims;
  readonly wait: WaitFor;
  /** Beside the request, whose version is the one found, and whose arguments an approver may change. */
  readonly asked?: AskedFor;
  /** The call that this one takes back. */
  readonly compensates?: string;
  /** Questions that its client can be asked while it runs, as MCP capabilities; absent: none. */
  readonly questions?: Readonly<Record<string, unknown>>;
  /** The task of its MCP server that an earlier run of it began. */
  readonly serverTask?: ServerTask;
  /** Beginning of the wait, epoch ms. */
  readonly since: number;
}
