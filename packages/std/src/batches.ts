/** Requests one item; concurrent requests are answered by one batch. */
export type Batched<Item, Answer> = (item: Item) => Promise<Answer>;

/** Limits of the batches. */
export interface BatchOptions<Item> {
  /** Most items in one batch. */
  readonly max: number;
  /** Most batches under way at once. */
  readonly atOnceMax: number;
  /** Two items with the same key are never in one batch; the later one goes into a later batch. */
  readonly keyOf: (item: Item) => string;
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly key: string;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * A single item is sent at once; items that arrive while `atOnceMax` batches are under way are sent together next. So
 * nothing waits for company, and under load many items share one batch.
 * @param run answers with one answer per item, in order; its error is thrown to every caller
 */
export function createBatched<Item, Answer>(
  run: (items: readonly Item[]) => Promise<readonly Answer[]>,
  { max, atOnceMax, keyOf }: BatchOptions<Item>,
): Batched<Item, Answer> {
  let waiting: Waiting<Item, Answer>[] = [];
  let underWay = 0;

  /** The first waiting items, each key once; the others keep their order. */
  const takeBatch = (): Waiting<Item, Answer>[] => {
    const batch = new Map<string, Waiting<Item, Answer>>();
    const rest: Waiting<Item, Answer>[] = [];
    for (const each of waiting) {
      if (batch.size < max && !batch.has(each.key)) batch.set(each.key, each);
      else rest.push(each);
    }
    waiting = rest;
    return [...batch.values()];
  };
  const launch = async (): Promise<void> => {
    underWay += 1;
    while (waiting.length > 0) {
      const batch = takeBatch();
      try {
        const answers = await run(batch.map(({ item }) => item));
        for (const [at, each] of batch.entries()) each.resolve(answers[at] as Answer);
      } catch (thrown) {
        for (const each of batch) each.reject(thrown);
      }
    }
    underWay -= 1;
  };
  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    waiting.push({ item, key: keyOf(item), resolve, reject });
    if (underWay < atOnceMax) void launch();
    return promise;
  };
}
