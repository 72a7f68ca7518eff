import type { ToolManifest } from '../../packages/sallyport/src/manifest.ts';

type Executor = NonNullable<ToolManifest['executor']['config']>;

/** A tool that is a module. */
const moduleTool = (tool_id: string, config: Executor, more: Partial<ToolManifest> = {}): ToolManifest => ({
  tool_id,
  tool_name: tool_id,
  version: '1.0.0',
  description: 'A function in a sandbox.',
  category: 'computation',
  side_effect_policy: 'pure',
  parameters_schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' },
  executor: { kind: 'native', config },
  ...more,
});

const INVOICE = `
const cents = (amount) => Math.round(amount * 100);

export default function total({ lines, taxPercent = 0 }) {
  if (lines.length === 0) {
    throw new RangeError('an invoice has at least one line');
  }
  const net = lines.reduce((sum, { price, pieces }) => sum + cents(price) * pieces, 0);
  const tax = Math.round((net * taxPercent) / 100);
  return { net: net / 100, tax: tax / 100, gross: (net + tax) / 100 };
}
`;

export const TOTAL = moduleTool('invoice-total', { module: INVOICE });
/** The same source, isolated by more than an interpreter. */
export const TOTAL_IN_PROCESS = moduleTool(
  'invoice-total-apart',
  { module: INVOICE },
  { execution_config: { isolation: 'namespaces' } },
);
export const CURIOUS = moduleTool('look-around', {
  module: `export default async () => {
    const found = ['process', 'require', 'fetch', 'WebAssembly', 'setTimeout'].filter((name) => name in globalThis);
    const file = await import('node:fs').then(() => 'files', (error) => error.message);
    return { found, file };
  }`,
});
export const ENDLESS = moduleTool(
  'count-for-ever',
  { module: 'export default () => { for (let n = 0; ; n++); }' },
  { execution_config: { default_timeout_seconds: 1 } },
);
export const GREEDY = moduleTool(
  'keep-everything',
  { module: 'export default () => { const kept = []; for (;;) kept.push(new Uint8Array(1e6).fill(1)); }' },
  { execution_config: { default_memory_mb_limit: 32 } },
);
export const COUNTER = moduleTool('count-calls', {
  module: 'export default () => { globalThis.calls = (globalThis.calls ?? 0) + 1; return globalThis.calls; }',
});
/** Its third line has a fault. */
export const FAULTY = moduleTool('faulty', { module: 'export default () => {\n  const a = 1;\n  return a +;\n};' });
/** No module, but asks for isolation that a function in process does not have. */
export const DEMANDING = moduleTool('demanding', {}, { execution_config: { isolation: 'microvm' } });
