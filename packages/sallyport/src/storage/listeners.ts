/** Listeners within this process. */
export interface Listeners<Message> {
  /** A failure of one listener does not concern the others. */
  notify(message: Message): void;
  subscribe(receive: (message: Message) => void): Disposable;
  clear(): void;
}

/** Makes an empty set. */
export function createListeners<Message>(): Listeners<Message> {
  const listeners = new Set<{ readonly receive: (message: Message) => void }>();
  return {
    notify(message) {
      for (const { receive } of listeners) {
        try {
          receive(message);
        } catch {
          // See above.
        }
      }
    },
    subscribe(receive) {
      const listener = { receive };
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    clear: () => listeners.clear(),
  };
}
