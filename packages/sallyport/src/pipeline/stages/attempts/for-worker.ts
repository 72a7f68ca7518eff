import type { WaitFor } from '../../../domain/invocation/waiting-call.ts';
import type { Approved } from '../../call.ts';

/** What a call waits for that a worker runs later: with the approval that it has already. */
export const forWorker = ({ confirmed, question, approvedBy }: Approved): WaitFor => ({
  for: 'worker',
  confirmed,
  ...(approvedBy === undefined ? {} : { approvedBy }),
  ...(question === undefined ? {} : { question }),
});
