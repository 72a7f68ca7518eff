import type { ToolErrorBody } from '../../../api/schemas/error.ts';

/** Categories after which the tool's progress is unknown. */
const UNCERTAIN: ReadonlySet<string> = new Set(['Timeout', 'ServerError', 'NetworkError']);
/** Rows of those categories that are raised before a tool is reached. */
const BEFORE_THE_TOOL: ReadonlySet<string> = new Set([
  'E3005',
  'E3101',
  'E3301',
  'E3401',
  'E3402',
  'E3404',
  'E3405',
  'E3602',
  'E3605',
  'E3606',
  'E3607',
  'E3608',
  'E3708',
  'E3803',
  'E3808',
  'E3811',
  'E3812',
]);

/** True when the tool may have done its work although the call failed. */
export function mayHaveTakenEffect({ category, e_code, details }: ToolErrorBody): boolean {
  if (!UNCERTAIN.has(category) || BEFORE_THE_TOOL.has(e_code)) return false;
  return details?.['reached'] !== false && details?.['request_sent'] !== false;
}
