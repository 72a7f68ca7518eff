/** The runner's `test`, in the form that conformance suites take. */
export type TestCase = (name: string, run: () => Promise<void>) => void;

/** Opens a fresh adapter for one case. */
export type OpenStore<S> = () => Promise<{ readonly store: S; close(): Promise<void> }>;

/** Declares cases over one adapter: each gets a store of its own, which is always closed afterwards. */
export function casesOver<S>(
  test: TestCase,
  adapter: string,
  open: OpenStore<S>,
): (name: string, run: (store: S) => Promise<void>) => void {
  return (name, run) =>
    test(`${name} (${adapter})`, async () => {
      const { store, close } = await open();
      try {
        await run(store);
      } finally {
        await close();
      }
    });
}
