/** Asks for one thing; who asks at the same time is answered together. */
export type Batched<Item, Answer> = (item: Item) => Promise<Answer>;

/** How many things are asked for together. */
export interface BatchOptions<Item> {
  /** Items in one batch at most. */
  readonly max: number;
  /** Batches under way at once, at most. */
  readonly atOnceMax: number;
  /** Two items of one key never stand in one batch; the later one comes in a batch after it. */
  readonly keyOf: (item: Item) => string;
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly key: string;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * A lonely item goes at once; what comes while `atOnceMax` batches are under way goes together with the next. So nobody
 * waits for company, and under load many share one journey.
 * @param run answers with one answer for each item, in their order; what it throws is thrown to each of them
 */
export function createBatched<Item, Answer>(
  run: (items: readonly Item[]) => Promise<readonly Answer[]>,
  { max, atOnceMax, keyOf }: BatchOptions<Item>,
): Batched<Item, Answer> {
  let waiting: Waiting<Item, Answer>[] = [];
  let underWay = 0;

  /** The first items of those that wait, each key once; the others keep their order. */
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
