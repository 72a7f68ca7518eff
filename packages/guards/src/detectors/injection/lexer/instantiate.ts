/** What a module of WebAssembly offers, by name. */
export type WasmExports = Readonly<Record<string, unknown>>;

/** The part of the platform's WebAssembly that is used here: its types belong to browsers' declarations. */
interface Platform {
  readonly Module: new (binary: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: WasmExports };
}

/**
 * Starts a module that needs nothing from outside, at once.
 * @throws WebAssembly.CompileError when the bytes are no module
 */
export function instantiate(binary: Uint8Array): WasmExports {
  const { Module, Instance } = (globalThis as unknown as { readonly WebAssembly: Platform }).WebAssembly;
  return new Instance(new Module(binary)).exports;
}

/** The number that a module offers under a name. */
export function numberOf(exports: WasmExports, name: string): number {
  return (exports[name] as { readonly value: number }).value;
}
