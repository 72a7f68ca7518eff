/** A compiled module; threads share it. */
export interface WasmModule {
  readonly [Symbol.toStringTag]?: string;
}

/** Linear memory of one instance. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  /** @throws RangeError beyond the maximum */
  grow(pages: number): number;
}

interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => WasmModule;
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => WasmMemory;
}

/** The part of the platform's `WebAssembly` that is used here; the type library of Node does not name it. */
export const webAssembly: WebAssemblyApi = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi })
  .WebAssembly;
