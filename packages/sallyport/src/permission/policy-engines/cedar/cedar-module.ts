import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { PolicyJson } from '@cedar-policy/cedar-wasm/web';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';

/** The WebAssembly module's functions. */
export type Cedar = typeof import('@cedar-policy/cedar-wasm/web');

/** The part of the platform's `WebAssembly` that is used here; the type library of Node does not name it. */
const { WebAssembly: platform } = globalThis as unknown as {
  readonly WebAssembly: { compile(code: Uint8Array): Promise<Parameters<Cedar['initSync']>[0]> };
};

let loading: Promise<Cedar> | undefined;

/** The module, one for the process. It is compiled beside the thread that asks: 40 ms at a start that has no time. */
export function loadCedar(): Promise<Cedar> {
  loading ??= load().catch((thrown: unknown) => {
    loading = undefined;
    throw thrown;
  });
  return loading;
}

/** The package's build for browsers, because the one for Node compiles in the thread that imports it. */
async function load(): Promise<Cedar> {
  const cedar = await import('@cedar-policy/cedar-wasm/web');
  const ofNode = createRequire(import.meta.url).resolve('@cedar-policy/cedar-wasm/nodejs');
  const code = await readFile(join(dirname(ofNode), 'cedar_wasm_bg.wasm'));
  // The package's own way to compile asks whether there is a Response, and with that loads a whole HTTP client: 50 ms.
  cedar.initSync({ module: await platform.compile(code) });
  return cedar;
}

/**
 * The tree of a policy whose text parses. Takes half a millisecond, so it is asked for only where nothing else will do.
 * @throws E3214 when it does not parse after all
 */
export function readPolicy(cedar: Cedar, text: string): PolicyJson {
  const read = cedar.policyToJson(text);
  if (read.type === 'success') return read.json;
  throw new ToolLayerError('E3214', `A policy cannot be read: ${read.errors[0]?.message ?? 'no reason given'}.`);
}
