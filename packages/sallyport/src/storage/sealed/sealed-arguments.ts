import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { type ParametersSeal, unreadableArguments } from '../../domain/invocation/tasks/sealed-parameters.ts';
import type { ServerTask } from '../../domain/invocation/tasks/server-task.ts';
import type { Log } from '../../telemetry/log.ts';

/**
 * Encrypts the arguments of waiting calls in their rows: such a call may wait for days, and its arguments are needed as
 * they are, secrets and personal data included (PIPE-07). So is the id of a server's task: to some servers it is a key.
 * @returns a store whose reads of one row throw E3812 when its arguments do not open, so that no instance runs the call
 *   with others; lists show such a row as one that does not wait, and log it
 */
export function withSealedArguments(store: LedgerStore, seal: ParametersSeal, log: Log): LedgerStore {
  const one = (record: InvocationRecord | undefined): InvocationRecord | undefined => {
    if (record?.waiting === undefined) return record;
    const opened = openedRecord(seal, record);
    if (opened === undefined) throw unreadableArguments(record.invocationId);
    return opened;
  };
  const listed = (record: InvocationRecord): InvocationRecord => {
    const opened = openedRecord(seal, record);
    if (opened !== undefined) return opened;
    log.error('waiting-arguments-unreadable', { invocation_id: record.invocationId });
    const { waiting: _waiting, ...rest } = record;
    return rest;
  };
  return {
    ...store,
    append: (batch, durability) =>
      store.append(
        batch.records.some(({ waiting }) => waiting !== undefined)
          ? { ...batch, records: batch.records.map((record) => sealedRecord(seal, record)) }
          : batch,
        durability,
      ),
    findInvocation: async (tenantId, invocationId) => one(await store.findInvocation(tenantId, invocationId)),
    fenceInvocation: async (tenantId, invocationId, fence) =>
      one(await store.fenceInvocation(tenantId, invocationId, fence)),
    waitingCalls: async (query) => (await store.waitingCalls(query)).map(listed),
    calls: async (query) => (await store.calls(query)).map(listed),
    openInvocations: async (instanceId) =>
      (await store.openInvocations(instanceId)).flatMap((record) => {
        const shown = listed(record);
        // A call that waits is not over because its arguments cannot be read.
        return shown.waiting === undefined && record.waiting !== undefined ? [] : [shown];
      }),
  };
}

function sealedRecord(seal: ParametersSeal, record: InvocationRecord): InvocationRecord {
  const { waiting } = record;
  const given = waiting?.request.parameters;
  const sealed = given === undefined ? record : withParameters(record, seal.seal(given, placeOf(record)));
  const task = waiting?.serverTask;
  return task === undefined ? sealed : withTask(sealed, seal.seal({ ...task }, taskPlaceOf(record)));
}

/** Undefined when its arguments do not open. */
function openedRecord(seal: ParametersSeal, record: InvocationRecord): InvocationRecord | undefined {
  const given = record.waiting?.request.parameters;
  const parameters = given === undefined ? {} : seal.open(given, placeOf(record));
  const kept = record.waiting?.serverTask;
  const task = kept === undefined ? {} : seal.open({ ...kept }, taskPlaceOf(record));
  if (parameters === undefined || task === undefined) return undefined;
  const opened = given === undefined ? record : withParameters(record, parameters);
  return kept === undefined ? opened : withTask(opened, task);
}

function withTask(record: InvocationRecord, task: Record<string, unknown>): InvocationRecord {
  const { waiting } = record;
  return waiting === undefined
    ? record
    : { ...record, waiting: { ...waiting, serverTask: task as unknown as ServerTask } };
}

function withParameters(record: InvocationRecord, parameters: Record<string, unknown>): InvocationRecord {
  const { waiting } = record;
  return waiting === undefined
    ? record
    : { ...record, waiting: { ...waiting, request: { ...waiting.request, parameters } } };
}

/** The arguments of one call cannot be moved to the row of another. */
const placeOf = ({ tenantId, invocationId }: InvocationRecord): readonly string[] => [
  tenantId,
  invocationId,
  'parameters',
];

const taskPlaceOf = ({ tenantId, invocationId }: InvocationRecord): readonly string[] => [
  tenantId,
  invocationId,
  'server task',
];
