import { DELETE_RULES } from './delete-rules.ts';
import { DEVICE_RULES } from './device-rules.ts';
import { NETWORK_RULES } from './network-rules.ts';
import type { Rule } from './rule-kit.ts';
import { SYSTEM_RULES } from './system-rules.ts';
import { WINDOWS_RULES } from './windows-rules.ts';
import { WRITE_RULES } from './write-rules.ts';

/** Rules by name of the program. */
export const RULES: ReadonlyMap<string, readonly Rule[]> = byProgram([
  ...DELETE_RULES,
  ...DEVICE_RULES,
  ...SYSTEM_RULES,
  ...NETWORK_RULES,
  ...WRITE_RULES,
  ...WINDOWS_RULES,
]);

function byProgram(rows: readonly (readonly [string, Rule])[]): Map<string, Rule[]> {
  const rules = new Map<string, Rule[]>();
  for (const [names, rule] of rows) {
    for (const name of names.split(' ')) rules.set(name, [...(rules.get(name) ?? []), rule]);
  }
  return rules;
}
