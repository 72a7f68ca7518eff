import type { Executor } from './executor.port.ts';

/**
 * The members of an executor that asks no person about a call of its own: both paths are one, because a yes changes
 * nothing of what may run (EXE-01).
 */
export function neverAsks(
  run: Executor['execute'],
): Pick<Executor, 'requiresConfirmation' | 'execute' | 'executeConfirmed'> {
  return { requiresConfirmation: () => undefined, execute: run, executeConfirmed: run };
}
