import type { Clock } from '@sallyport/std/clock';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { Ledger } from '../../audit/ledger.ts';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import type { OutcomeStore } from '../../pipeline/outcome-store.port.ts';
import type { RunCall } from '../../pipeline/run.ts';
import type { Log } from '../../telemetry/log.ts';
import type { CompensationStore } from '../compensation-store.port.ts';

/** Dependencies of compensations. */
export interface CompensationParts {
  readonly records: Pick<LedgerStore, 'calls' | 'findInvocation'>;
  readonly compensations: CompensationStore;
  /** Settlements of calls whose outcome was unknown. */
  readonly outcomes: Pick<OutcomeStore, 'find' | 'findAll'>;
  readonly runCall: RunCall;
  readonly ledger: Pick<Ledger, 'commit'>;
  readonly clock: Clock;
  readonly log: Log;
  /** The newest version of a tool of the tenant, or of the catalogue; undefined when there is none. */
  readonly findTool: (tenantId: string, toolId: string) => ToolManifest | undefined;
}

/** The asker of a compensation: the compensating call is made as theirs. */
export interface CompensationAsker {
  readonly caller: Caller;
  readonly agentDid: string;
}
