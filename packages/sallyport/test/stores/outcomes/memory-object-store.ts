import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isObjectName, type ObjectStore } from '../../../src/bridges/object-store.port.ts';

/** Objects in memory, for tests of the components above the store. @param held what it holds, by name */
export function memoryObjectStore(held = new Map<string, Uint8Array>()): ObjectStore {
  const checked = (name: string): string => {
    if (!isObjectName(name)) throw new ToolLayerError('E3900', 'The name of an object is not a name.');
    return name;
  };
  return {
    async put(name, bytes) {
      held.set(checked(name), Uint8Array.from(bytes));
    },
    async get(name, size) {
      const found = held.get(checked(name));
      return found?.length === size ? found : undefined;
    },
    bringBack: async (name) => (held.has(checked(name)) ? 'readable' : undefined),
    async remove(name) {
      held.delete(checked(name));
    },
  };
}
