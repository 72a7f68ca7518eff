/** Those who are notified of one kind of event. */
export interface Listeners<Event extends readonly unknown[]> {
  /** @returns a function that removes the listener */
  readonly add: (listener: (...event: Event) => void) => () => void;
  readonly notify: (...event: Event) => void;
}

export function createListeners<Event extends readonly unknown[]>(): Listeners<Event> {
  const all = new Set<(...event: Event) => void>();
  return {
    add: (listener) => {
      all.add(listener);
      return () => all.delete(listener);
    },
    notify: (...event) => {
      for (const listener of all) listener(...event);
    },
  };
}
