import { test } from 'vitest';
import { javascriptDialect } from '../../conformance/javascript-dialect.ts';
import { sandboxDriverConformance } from '../../driver.conformance.ts';
import { createWasmDriver } from './wasm-driver.ts';

sandboxDriverConformance(
  test,
  'wasm',
  async () => {
    const driver = createWasmDriver();
    return {
      driver,
      traces: (mark) =>
        driver
          .running()
          .filter(({ command }) => command.includes(mark))
          .map(({ label }) => label),
      close: async () => driver[Symbol.asyncDispose](),
    };
  },
  javascriptDialect,
);
