import { type ParametersSeal, unreadableArguments } from '../../domain/invocation/tasks/sealed-parameters.ts';
import type { ApprovalStore, HeldClosing, StoredVote } from '../../orchestration/approval-store.port.ts';
import type { Log } from '../../telemetry/log.ts';

/** Votes and closings, whose arguments an approver may have edited. */
type Edited = Pick<StoredVote | HeldClosing, 'tenantId' | 'approvalId' | 'parameters'>;

/**
 * Encrypts the arguments that approvers edited, in votes and closings.
 * @returns a store that throws E3812 when such arguments do not open; lists leave out what is to be carried out, show
 *   other closings without the arguments, and log it
 */
export function withSealedEdits(store: ApprovalStore, seal: ParametersSeal, log: Log): ApprovalStore {
  const sealed = <T extends Edited>(edited: T): T =>
    edited.parameters === undefined ? edited : { ...edited, parameters: seal.seal(edited.parameters, placeOf(edited)) };
  /** Undefined when its arguments do not open. */
  const opened = <T extends Edited>(edited: T): T | undefined => {
    if (edited.parameters === undefined) return edited;
    const parameters = seal.open(edited.parameters, placeOf(edited));
    return parameters === undefined ? undefined : { ...edited, parameters };
  };
  const listed = (closing: HeldClosing): HeldClosing | undefined => {
    const shown = opened(closing);
    if (shown === undefined) log.error('edited-arguments-unreadable', { approval_id: closing.approvalId });
    return shown;
  };
  const allOf = (votes: readonly StoredVote[]): readonly StoredVote[] =>
    votes.map((vote) => {
      const shown = opened(vote);
      if (shown === undefined) throw unreadableArguments(vote.approvalId);
      return shown;
    });
  return {
    ...store,
    vote: async (vote) => allOf(await store.vote(sealed(vote))),
    votes: async (tenantId, approvalId) => allOf(await store.votes(tenantId, approvalId)),
    close: (closing) => store.close(sealed(closing)),
    async closing(tenantId, approvalId) {
      const closing = await store.closing(tenantId, approvalId);
      if (closing === undefined) return undefined;
      const shown = opened(closing);
      if (shown === undefined) throw unreadableArguments(closing.invocationId);
      return shown;
    },
    closings: async (tenantId, limit, offset) =>
      (await store.closings(tenantId, limit, offset)).map((closing) => {
        const { parameters: _parameters, ...rest } = closing;
        return listed(closing) ?? rest;
      }),
    unfinished: async (limit, leaseMs) =>
      (await store.unfinished(limit, leaseMs)).flatMap((closing) => listed(closing) ?? []),
  };
}

const placeOf = ({ tenantId, approvalId }: Edited): readonly string[] => [tenantId, approvalId, 'edit'];
