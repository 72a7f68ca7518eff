import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import { createFreshListing } from './fresh-listing.ts';

/** Listings that the test ends, in the order in which they began. */
function listings() {
  const begun: PromiseWithResolvers<void>[] = [];
  const fresh = createFreshListing(() => {
    const one = Promise.withResolvers<void>();
    begun.push(one);
    return one.promise;
  });
  return { begun, fresh };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('REG-09 a call waits for a listing that began after it came, and calls that come meanwhile share the next one', async () => {
  const { begun, fresh } = listings();
  const ended: string[] = [];
  const call = (name: string): Promise<unknown> => fresh({}).then(() => ended.push(name));
  const first = call('first');
  const others = [call('second'), call('third')];
  expect(begun).toHaveLength(1);
  begun[0]?.resolve();
  await first;
  await turn();
  expect([begun.length, ended]).toEqual([2, ['first']]);
  begun[1]?.resolve();
  await Promise.all(others);
  const later = call('later');
  expect(begun).toHaveLength(3);
  begun[2]?.resolve();
  await later;
  expect(ended).toEqual(['first', 'second', 'third', 'later']);
});

test('REG-09 a listing that fails fails its own calls alone', async () => {
  const { begun, fresh } = listings();
  const [first, second] = [fresh({}), fresh({})];
  begun[0]?.reject(new Error('broken'));
  await expect(first).rejects.toThrow('broken');
  await turn();
  begun[1]?.resolve();
  await second;
});

test('REG-09 a call gives up with its own signal or time, and leaves the listing to the others', async () => {
  const { begun, fresh } = listings();
  const cancel = new AbortController();
  const cancelled = fresh({ signal: cancel.signal });
  cancel.abort(new ToolLayerError('E3805', 'gone'));
  await expect(cancelled).rejects.toMatchObject({ code: 'E3805' });
  await expect(fresh({ timeoutMs: 1 })).rejects.toMatchObject({ code: 'E3103' });
  const other = fresh({});
  begun[0]?.resolve();
  await turn();
  begun[1]?.resolve();
  await other;
  expect(begun).toHaveLength(2);
});
