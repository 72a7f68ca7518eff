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

/** The module, one per process. It is compiled off the asking thread: 40 ms that a start cannot spare. */
export function loadCedar(): Promise<Cedar> {
  loading ??= load().catch((thrown: unknown) => {
    loading = undefined;
    throw thrown;
  });
  return loading;
}

/** Uses the package's build for browsers, because the build for Node compiles in the importing thread. */
async function load(): Promise<Cedar> {
  const cedar = await import('@cedar-policy/cedar-wasm/web');
  const ofNode = createRequire(import.meta.url).resolve('@cedar-policy/cedar-wasm/nodejs');
  const code = await readFile(join(dirname(ofNode), 'cedar_wasm_bg.wasm'));
  // The package's own compilation checks for a Response, which loads a whole HTTP client: 50 ms.
  cedar.initSync({ module: await platform.compile(code) });
  return cedar;
}

/**
 * The tree of a policy that is known to parse. Takes half a millisecond, so it is used only where necessary.
 * @throws E3214 when it does not parse after all
 */
export function readPolicy(cedar: Cedar, text: string): PolicyJson {
  const read = cedar.policyToJson(text);
  if (read.type === 'success') return read.json;
  throw new ToolLayerError('E3214', `A policy cannot be read: ${read.errors[0]?.message ?? 'no reason given'}.`);
}
