/** What an input gave the first time it was seen. */
export interface SeenOutput {
  readonly outputHash: string;
  readonly invocationId: string;
}

/** Remembers outputs of tools that say that they are deterministic (PIPE-10). */
export interface OutputMemory {
  /**
   * @param contentHash of the tool's definition: another definition may answer otherwise
   * @returns what the same input gave before; undefined when it is new, and then it is remembered
   */
  seen(contentHash: string, inputHash: string, output: SeenOutput): SeenOutput | undefined;
}

/** How much is remembered; what was not asked for longest is forgotten first. */
export interface OutputMemoryBounds {
  readonly toolsMax: number;
  readonly inputsPerToolMax: number;
}

/** Some 15 MB when full. */
export const OUTPUT_MEMORY_BOUNDS: OutputMemoryBounds = { toolsMax: 256, inputsPerToolMax: 256 };

/** An empty memory of this process. */
export function createOutputMemory(bounds: OutputMemoryBounds = OUTPUT_MEMORY_BOUNDS): OutputMemory {
  const tools = new Map<string, Map<string, SeenOutput>>();
  return {
    seen(contentHash, inputHash, output) {
      const inputs = tools.get(contentHash) ?? new Map<string, SeenOutput>();
      renew(tools, contentHash, inputs, bounds.toolsMax);
      const before = inputs.get(inputHash);
      renew(inputs, inputHash, before ?? output, bounds.inputsPerToolMax);
      return before;
    },
  };
}

/** Puts the entry last, and lets the first one go where there is no room. */
function renew<Value>(entries: Map<string, Value>, key: string, value: Value, max: number): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size <= max) return;
  const oldest = entries.keys().next();
  if (oldest.done !== true) entries.delete(oldest.value);
}
