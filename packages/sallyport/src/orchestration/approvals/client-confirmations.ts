import { failure, isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { judgedArguments } from '../../domain/invocation/call-environment.ts';
import { type CallOwner, isOwner } from '../../domain/invocation/call-owner.ts';
import type { ConfirmationReason } from '../../domain/invocation/waiting-call.ts';
import type { Approvals, Approver, Pending } from '../approvals.ts';

/** A question as a client shows it to its user. */
export interface ClientQuestion {
  readonly toolId: string;
  readonly toolVersion: string;
  readonly reason: ConfirmationReason;
  readonly question?: string;
  readonly prompt?: string;
  readonly argumentsText?: string;
  readonly bindingDigest: string;
  /** Epoch ms. */
  readonly expiresAt: number;
}

/** The answer of a client's user. */
export interface ClientConfirmation {
  readonly tenantId: string;
  readonly approvalId: string;
  readonly by: CallOwner;
  readonly accepted: boolean;
  readonly bindingDigest: string;
}

/** Confirmations by users at a client (VIS-06): never for questions that need an approver. */
export interface ClientConfirmations {
  /** Undefined when this user may not confirm the call, or nobody can any more. */
  shown(by: CallOwner, approvalId: string): Promise<ClientQuestion | undefined>;
  /**
   * Resolves once the answer is stored; the call resumes after that, through every stage.
   * @throws ToolLayerError E3213, E3808, E3809, E3817, as approvals refuse
   */
  confirm(confirmation: ClientConfirmation): Promise<void>;
}

/** Dependencies of client confirmations. */
export interface ClientConfirmationParts {
  readonly approvals: Pick<Approvals, 'find' | 'isForClient' | 'approve' | 'deny'>;
  /** Arguments as a client may show them. */
  readonly shownArguments: (parameters: Readonly<Record<string, unknown>>) => string;
}

/** The user at the client decides only on calls of their own agent, and on those made in their own name. */
export function createClientConfirmations({ approvals, shownArguments }: ClientConfirmationParts): ClientConfirmations {
  return {
    async shown(by, approvalId) {
      const pending = await approvals.find(by.tenantId, approvalId);
      if (isFailure(pending) || !isTheirs(pending, by) || !approvals.isForClient(pending)) return undefined;
      const { binding, reason, prompt, expiresAt } = pending.request;
      const { request } = pending.waiting;
      const judged = judgedArguments(request.parameters ?? {}, request);
      return {
        toolId: binding.toolId,
        toolVersion: binding.toolVersion,
        reason,
        ...(binding.question === undefined ? {} : { question: binding.question }),
        ...(prompt === undefined ? {} : { prompt }),
        argumentsText: shownArguments(judged),
        bindingDigest: pending.digest,
        expiresAt,
      };
    },
    async confirm({ approvalId, by, accepted, bindingDigest }) {
      const pending = await approvals.find(by.tenantId, approvalId);
      if (isFailure(pending)) throw ToolLayerError.of(pending);
      if (!isTheirs(pending, by)) throw ToolLayerError.of(notTheirs());
      const decision = { approvalId, approver: approverOf(by), digest: bindingDigest };
      const decided = await (accepted ? approvals.approve(decision) : approvals.deny(decision));
      if (isFailure(decided)) throw ToolLayerError.of(decided);
    },
  };
}

const isTheirs = ({ request }: Pending, by: CallOwner): boolean => isOwner(by, request.binding);

const notTheirs = () => failure('E3213', 'Only the user in whose name the agent asked may confirm its call.');

function approverOf({ tenantId, agentDid, userDid }: CallOwner): Approver {
  const id = userDid ?? agentDid;
  return { tenantId, id, names: [id], agentDid, userDid, roles: [], via: 'client' };
}
