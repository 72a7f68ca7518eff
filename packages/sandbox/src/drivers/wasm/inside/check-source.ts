import type { SyntaxFault, WasmCheck } from '../protocol.ts';
import { WASM_BOUNDS } from '../settings.ts';
import type { WasmModule } from '../web-assembly.ts';
import { createInterpreter } from './interpreter.ts';

const CHECK_MEMORY_MB = 128;

/** Parses a source without running it; undefined when its syntax is valid. */
export async function checkSource(
  wasmModule: WasmModule,
  { source, format }: WasmCheck,
): Promise<SyntaxFault | undefined> {
  const { runtime, context } = await createInterpreter(wasmModule, CHECK_MEMORY_MB);
  const givesUpAt = performance.now() + WASM_BOUNDS.checkMs / 2;
  runtime.setInterruptHandler(() => performance.now() > givesUpAt);
  const type = format === 'script' ? 'global' : 'module';
  const { error } = context.evalCode(source, 'module.js', { type, compileOnly: true });
  if (error === undefined) return undefined;
  const { name, message, stack } = context.dump(error) as { name?: string; message?: string; stack?: string };
  const place = /module\.js:(\d+)/.exec(stack ?? '');
  return {
    message: `${name ?? 'Error'}: ${message ?? 'the source cannot be read'}`,
    ...(place?.[1] === undefined ? {} : { line: Number(place[1]) }),
  };
}
