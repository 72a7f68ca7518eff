import type { Clock } from '@sallyport/std/clock';
import type { Ledger } from '../../audit/ledger.ts';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { ServerTask } from '../../domain/invocation/tasks/server-task.ts';
import type { GivenApproval } from '../../domain/invocation/waiting-call.ts';
import type { PipelineParts } from '../../pipeline/parts.ts';
import type { RunCall } from '../../pipeline/run.ts';
import type { Log } from '../../telemetry/log.ts';
import type { CallIntake } from '../call-intake.ts';
import type { CallLeaseStore } from '../call-lease-store.port.ts';
import type { JobQueue } from '../job-queue.port.ts';
import type { WorkerLimits } from './worker-limits.ts';

/** Dependencies of the workers. */
export interface WorkerParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly instanceId: string;
  readonly records: LedgerStore;
  readonly ledger: Ledger;
  readonly running: PipelineParts['running'];
  readonly leases: CallLeaseStore;
  readonly queue: JobQueue;
  /** The pipeline itself. */
  readonly runCall: RunCall;
  readonly intake: CallIntake;
  readonly limits: WorkerLimits;
  /**
   * Takes back the changes of an instance that is gone, as far as this one reaches them, once its calls are settled
   * (PIPE-03).
   * @returns how many calls were rolled back
   */
  readonly rollBackFor: (instanceId: string) => Promise<number>;
  /** The stored approval of a call; undefined when nobody has approved it. */
  readonly givenApproval: (record: InvocationRecord) => Promise<GivenApproval | undefined>;
  /** Cancels the task that the server of a call began for it, as far as the server can be reached. Never rejects. */
  readonly cancelServerTask: (record: InvocationRecord, task: ServerTask) => Promise<void>;
}
