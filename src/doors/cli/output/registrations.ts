import type { Registration } from '../../../../api/schemas/registry.ts';

export const REGISTRATION_HEAD = ['OUTCOME', 'TOOL', 'VERSION', 'REMARKS'] as const;

/** A registration as a row of a table. */
export function registrationRow({ outcome, tool_id, version, warnings, error }: Registration): string[] {
  const refused = typeof error?.['message'] === 'string' ? [error['message']] : [];
  return [outcome, tool_id, version, [...refused, ...warnings.map(({ message }) => message)].join('; ')];
}
