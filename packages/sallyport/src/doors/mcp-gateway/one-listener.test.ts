import { expect, test } from 'vitest';
import type { Caller } from '../../domain/principal/principal.ts';
import { oneListener } from './one-listener.ts';

/** Callers by token; `open` has the tokens of the callers that listen now. Nobody listens before `beginAll`. */
function bench() {
  const open: string[] = [];
  const begins: (() => void)[] = [];
  const listening = oneListener(async ({ token = '' }) => {
    await new Promise<void>((resolve) => begins.push(resolve));
    open.push(token);
    return { [Symbol.dispose]: () => void open.splice(open.indexOf(token), 1) };
  });
  const listen = (token?: string) =>
    listening.listen(token === undefined ? undefined : ({ door: 'mcp', token } satisfies Caller));
  const beginAll = (): void => {
    for (const begin of begins.splice(0).reverse()) begin();
  };
  return { open, listening, listen, beginAll };
}

test('API-03.14 of two that ask to listen at once the later one listens, and nobody twice', async () => {
  const { open, listen, beginAll } = bench();
  const both = [listen('first'), listen('second')];
  beginAll();
  await Promise.all(both);
  expect(open).toEqual(['second']);
  await listen(undefined);
  expect(open).toEqual([]);
});

test('API-03.14 nobody listens for a client that left while it asked, or asks after it left', async () => {
  const { open, listening, listen, beginAll } = bench();
  const asked = listen('gone');
  listening[Symbol.dispose]();
  beginAll();
  await asked;
  await listen('late');
  expect(open).toEqual([]);
});
