import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { fileToolManifests } from '../../../packages/sallyport/src/executors/file/file-tools.ts';
import type { NativeFunction } from '../../../packages/sallyport/src/executors/native/native-executor.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import type { Places } from './plan.ts';

/** Longest time that a function takes before its effect, and after it, in ms. */
const BEFORE_MS = 15;
const AFTER_MS = 30;

const KEY = {
  type: 'object',
  properties: { key: { type: 'string', description: 'Names the call.' } },
  required: ['key'],
  additionalProperties: false,
} as const;

const note = (name: string, more: Partial<ToolManifest>): ToolManifest => ({
  tool_id: `note_${name}`,
  tool_name: `Note ${name}`,
  version: '1.0.0',
  description: 'Appends a line to a file.',
  parameters_schema: KEY,
  executor: { kind: 'native' },
  ...more,
});

const RETRIED = { retry_policy: { max_attempts: 3, base_delay_ms: 3, max_delay_ms: 10 } };

/** Tools whose functions run in the layer's process. */
export const FUNCTION_TOOLS: readonly ToolManifest[] = [
  note('pure', { side_effect_policy: 'pure' }),
  note('idempotent', { side_effect_policy: 'idempotent', execution_config: RETRIED }),
  note('compensatable', { side_effect_policy: 'compensatable', compensation_tool_id: 'note_pure' }),
  note('irreversible', { side_effect_policy: 'irreversible', execution_config: RETRIED }),
  note('approved', { side_effect_policy: 'irreversible', execution_config: { requires_approval: true } }),
];

/** Tools that need no function: one runs in a sandbox, and one writes a file, which is restored when the call fails. */
export function ownTools({ effects, files }: Places, folder: string): readonly ToolManifest[] {
  const [write] = fileToolManifests([{ path: files, mode: 'rw' }]).filter(({ tool_id }) => tool_id === 'file_write');
  if (write === undefined) throw new Error('there is no tool that writes files');
  return [
    { ...write, tool_id: 'keep_file', tool_name: 'Keep a file' },
    note('shell', {
      side_effect_policy: 'irreversible',
      parameters_schema: {
        type: 'object',
        properties: { line: { type: 'string', description: 'What is appended.' } },
        required: ['line'],
        additionalProperties: false,
      },
      permissions: { filesystem: [{ path: folder, mode: 'rw' }] },
      execution_config: { default_memory_mb_limit: 64, argument_content: { '/line': 'raw' } },
      executor: { kind: 'shell', config: { command: ['tee', '-a', effects], stdin: '{line}', output: 'text' } },
    }),
  ];
}

/**
 * The function of a tool: appends a line, and returns a result that identifies the run.
 * @param onEffect called with the key after each effect
 */
export function createFunction({ effects }: Places, toolId: string, onEffect: (key: string) => void): NativeFunction {
  const attempts = new Map<string, number>();
  let runs = 0;
  return async ({ key }, { invocationId }) => {
    const attempt = (attempts.get(invocationId) ?? 0) + 1;
    attempts.set(invocationId, attempt);
    runs += 1;
    const mark = `${toolId}.${process.pid.toString(36)}.${runs.toString(36)}`;
    await sleep(spread(`${key} before`) * BEFORE_MS);
    const isFlaky = toolId === 'note_idempotent' && attempt === 1;
    if (isFlaky && spread(`${key} fails`) < 0.5) throw lost();
    appendFileSync(effects, `${key} ${invocationId} ${mark}\n`);
    onEffect(String(key));
    await sleep(spread(`${key} after`) * AFTER_MS);
    if (isFlaky) throw lost();
    return { key, mark };
  };
}

const lost = (): ToolLayerError => new ToolLayerError('E3310', 'The connection was lost.');

/** A number from 0 to 1, the same for the same text. */
function spread(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  return (hash >>> 8) / 2 ** 24;
}
