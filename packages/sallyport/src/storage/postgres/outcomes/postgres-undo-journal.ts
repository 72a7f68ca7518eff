import type { Pool } from 'pg';
import type { UndoStep } from '../../../domain/invocation/undo-step.ts';
import type { OpenTransaction, UndoJournal } from '../../../pipeline/undo-journal.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';

const ADD = {
  name: 'sallyport-add-undo-step',
  text: `
insert into sallyport.undo_steps (tenant_id, invocation_id, position, instance_id, step) values ($1, $2, $3, $4, $5)`,
};

const MARK = {
  name: 'sallyport-mark-undone',
  text: 'update sallyport.undo_steps set undone = true where tenant_id = $1 and invocation_id = $2 and position = $3',
};

const CLOSE = {
  name: 'sallyport-close-undo',
  text: 'delete from sallyport.undo_steps where tenant_id = $1 and invocation_id = $2',
};

const COLUMNS = 'tenant_id, invocation_id, instance_id, position, undone, step';

const FIND = `
select ${COLUMNS} from sallyport.undo_steps where tenant_id = $1 and invocation_id = $2 order by position`;

/** A page is limited by calls, not by steps. */
const OPEN = `
with calls as (
  select distinct tenant_id, invocation_id from sallyport.undo_steps
  where instance_id = $1 and ($3::text is null or (tenant_id, invocation_id) > ($3, $4))
  order by tenant_id, invocation_id limit $2
)
select ${COLUMNS} from sallyport.undo_steps join calls using (tenant_id, invocation_id)
where instance_id = $1 order by tenant_id, invocation_id, position`;

interface StepRow {
  readonly tenant_id: string;
  readonly invocation_id: string;
  readonly instance_id: string;
  readonly position: number;
  readonly undone: boolean;
  readonly step: UndoStep;
}

/** The undo journal in PostgreSQL; each write is a commit that waits for the disk. */
export function postgresUndoJournal(pool: Pool): UndoJournal {
  return {
    add: ({ tenantId, invocationId, instanceId, position, step }) =>
      inDatabase('write down how a change is taken back', async () => {
        const values = [keyText(tenantId), keyText(invocationId), position, keyText(instanceId), JSON.stringify(step)];
        await pool.query({ ...ADD, values });
      }),
    markUndone: (tenantId, invocationId, position) =>
      inDatabase('note that a change is taken back', async () => {
        await pool.query({ ...MARK, values: [keyText(tenantId), keyText(invocationId), position] });
      }),
    close: (tenantId, invocationId) =>
      inDatabase('close the transaction of a call', async () => {
        await pool.query({ ...CLOSE, values: [keyText(tenantId), keyText(invocationId)] });
      }),
    find: (tenantId, invocationId) =>
      inDatabase('read the transaction of a call', async () => {
        const { rows } = await pool.query<StepRow>(FIND, [keyText(tenantId), keyText(invocationId)]);
        return grouped(rows)[0];
      }),
    open: (instanceId, limit, after) =>
      inDatabase('read the open transactions', async () => {
        const place = after === undefined ? [null, null] : [keyText(after.tenantId), keyText(after.invocationId)];
        const { rows } = await pool.query<StepRow>(OPEN, [keyText(instanceId), limit, ...place]);
        return grouped(rows);
      }),
  };
}

/** Groups steps by call; rows of one call are adjacent. */
function grouped(rows: readonly StepRow[]): OpenTransaction[] {
  const found: (OpenTransaction & { readonly steps: OpenTransaction['steps'][number][] })[] = [];
  for (const { position, step, undone, ...row } of rows) {
    const [tenantId, invocationId] = [keyOfText(row.tenant_id), keyOfText(row.invocation_id)];
    const last = found.at(-1);
    const entry = { position, step, undone };
    if (last?.tenantId === tenantId && last.invocationId === invocationId) last.steps.push(entry);
    else found.push({ tenantId, invocationId, instanceId: keyOfText(row.instance_id), steps: [entry] });
  }
  return found;
}
