import type { Executor } from './executor.port.ts';

/**
 * The members of an executor that never asks a person about a call: confirmed and unconfirmed calls run alike, because
 * an approval does not change what may run (EXE-01).
 */
export function neverAsks(
  run: Executor['execute'],
): Pick<Executor, 'requiresConfirmation' | 'execute' | 'executeConfirmed'> {
  return { requiresConfirmation: () => undefined, execute: run, executeConfirmed: run };
}
