import type { ToolLayer } from '../operations/tool-layer.ts';

/** Notifies many listeners that the tools changed; changes close together cause one notification. */
export interface ToolChanges {
  onChanged(listener: () => void): Disposable;
  close(): void;
}

/**
 * @param togetherMs time between a change and the notification; changes in between are covered by it
 * @param atOnce called at each change, before any listener
 */
export function createToolChanges(layer: ToolLayer, togetherMs: number, atOnce: () => void): ToolChanges {
  const listeners = new Set<() => void>();
  let waiting: NodeJS.Timeout | undefined;
  const ring = (): void => {
    waiting = undefined;
    for (const listener of listeners) listener();
  };
  const subscription = layer.onToolsChanged(() => {
    atOnce();
    if (listeners.size > 0) waiting ??= setTimeout(ring, togetherMs);
  });
  return {
    onChanged: (listener) => {
      listeners.add(listener);
      return { [Symbol.dispose]: () => listeners.delete(listener) };
    },
    close: () => {
      clearTimeout(waiting);
      listeners.clear();
      subscription[Symbol.dispose]();
    },
  };
}
