import { expect, test } from 'vitest';
import { boundedBody } from './bounded-body.ts';

function answerOf(
  parts: readonly string[],
  ends = true,
): { readonly response: Response; readonly cancelled: () => boolean } {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
    },
    // Unless `ends` is set, the body stays open until its reader cancels it.
    pull: (controller) => (ends ? controller.close() : undefined),
    cancel: () => {
      cancelled = true;
    },
  });
  return { response: new Response(body), cancelled: () => cancelled };
}

test('a body is read to its end, at the bound too', async () => {
  expect((await boundedBody(answerOf(['Grü', 'ße']).response, 7))?.toString('utf8')).toBe('Grüße');
  expect(await boundedBody(new Response(null), 0)).toEqual(Buffer.alloc(0));
});

test('a body that is one byte longer is not read on, and its stream is cancelled', async () => {
  const { response, cancelled } = answerOf(['Grü', 'ße', '!'], false);
  expect(await boundedBody(response, 7)).toBeUndefined();
  expect(cancelled()).toBe(true);
});

test('what ends the stream with an error is thrown', async () => {
  const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error('cut')) });
  await expect(boundedBody(new Response(body), 10)).rejects.toThrow('cut');
});
