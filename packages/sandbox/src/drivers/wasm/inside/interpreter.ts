import imported from '@jitl/quickjs-ng-wasmfile-release-sync';
import { MiB } from '@sallyport/std/bytes';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
} from 'quickjs-emscripten-core';
import { PAGE_BYTES } from '../protocol.ts';
import { WASM_BOUNDS } from '../settings.ts';
import { type WasmMemory, type WasmModule, webAssembly } from '../web-assembly.ts';
import { PRELUDE } from './prelude.ts';

/** A QuickJS instance for one script, in a memory with a fixed maximum. */
export interface Interpreter {
  readonly memoryMb: number;
  readonly runtime: QuickJSRuntime;
  readonly context: QuickJSContext;
  readonly memory: WasmMemory;
  /** Creates the globals of a script; parsed in advance, while nobody waits. */
  readonly prelude: QuickJSHandle;
  /** True when an allocation failed, and none succeeded since. */
  memoryRefused(): boolean;
}

/** The types of the package are those of its CommonJS form, which is not the one that is loaded. */
const variant = 'default' in imported ? imported.default : imported;

/** Pages that the interpreter was built to begin with. */
const INITIAL_PAGES = (WASM_BOUNDS.memoryMbMin * MiB) / PAGE_BYTES;

/**
 * Makes an instance of the compiled module, which alone is shared.
 * @param memory empty, with that maximum; default: a new one
 */
export async function createInterpreter(
  wasmModule: WasmModule,
  memoryMb: number,
  memory: WasmMemory = newMemory(memoryMb),
): Promise<Interpreter> {
  let refused = false;
  const grow = Object.getPrototypeOf(memory).grow as WasmMemory['grow'];
  memory.grow = (pages) => {
    refused = true;
    const before = grow.call(memory, pages);
    refused = false;
    return before;
  };
  const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmModule, wasmMemory: memory }));
  const runtime = quickjs.newRuntime();
  runtime.setMaxStackSize(WASM_BOUNDS.scriptStackBytes);
  const context = runtime.newContext();
  const prelude = context.unwrapResult(context.evalCode(PRELUDE, 'prelude.js'));
  return { memoryMb, runtime, context, memory, prelude, memoryRefused: () => refused };
}

function newMemory(memoryMb: number): WasmMemory {
  return new webAssembly.Memory({
    initial: INITIAL_PAGES,
    maximum: Math.floor((Math.min(memoryMb, WASM_BOUNDS.memoryMbMax) * MiB) / PAGE_BYTES),
  });
}

/** Memory taken beyond the initial size, in bytes. */
export function takenBytes({ memory }: Interpreter): number {
  return memory.buffer.byteLength - INITIAL_PAGES * PAGE_BYTES;
}
