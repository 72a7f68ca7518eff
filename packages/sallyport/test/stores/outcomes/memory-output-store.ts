import { OUTPUTS_PER_TOOL_MAX, type OutputStore, type SeenOutput } from '../../../src/pipeline/output-store.port.ts';

/** The largest number of tools of a tenant whose outputs are stored. */
const TOOLS_MAX = 1000;

/** Outputs in memory. When the store is full, the entry whose output is oldest is removed. */
export function memoryOutputStore(): OutputStore {
  const tools = new Map<string, Map<string, SeenOutput>>();
  return {
    async remember({ tenantId, ownerId, contentHash, inputHash }, output) {
      const tool = JSON.stringify([tenantId, ownerId, contentHash]);
      const inputs = tools.get(tool) ?? new Map<string, SeenOutput>();
      const standing = inputs.get(inputHash);
      if (standing !== undefined) return standing;
      inputs.set(inputHash, { ...output });
      if (inputs.size > OUTPUTS_PER_TOOL_MAX) removeFirst(inputs);
      tools.delete(tool);
      tools.set(tool, inputs);
      if (tools.size > TOOLS_MAX) removeFirst(tools);
      return { ...output };
    },
    async forget(before, limit) {
      let forgotten = 0;
      for (const [tool, inputs] of tools) {
        for (const [input, { at }] of inputs) {
          if (forgotten === limit) return forgotten;
          if (at < before && inputs.delete(input)) forgotten += 1;
        }
        if (inputs.size === 0) tools.delete(tool);
      }
      return forgotten;
    },
  };
}

function removeFirst(entries: Map<string, unknown>): void {
  const first = entries.keys().next();
  if (first.done !== true) entries.delete(first.value);
}
