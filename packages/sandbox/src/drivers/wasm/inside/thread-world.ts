import { WASM_BOUNDS } from '../settings.ts';

/** Parts of a date in the zone of the host, which is nothing that a script has to know. */
const PARTS = ['FullYear', 'Month', 'Date', 'Day', 'Hours', 'Minutes', 'Seconds', 'Milliseconds'] as const;

/** Changes what the interpreter finds in this thread. Nothing but the interpreter runs in it. */
export function narrowThread(): void {
  liveInUtc();
  boundTexts();
}

/** The interpreter asks Date for the zone. */
function liveInUtc(): void {
  for (const part of PARTS) Date.prototype[`get${part}`] = Date.prototype[`getUTC${part}`];
  Date.prototype.getTimezoneOffset = () => 0;
}

/**
 * What leaves the interpreter is decoded by its own glue before anything of ours sees it, such as the name of a module. A
 * heap that is too small for one text ends the whole process, so no text may be that long.
 */
function boundTexts(): void {
  const decode = TextDecoder.prototype.decode;
  TextDecoder.prototype.decode = function decodeBounded(input, options) {
    if (input && input.byteLength > WASM_BOUNDS.textBytesMax) {
      throw new RangeError('a text that leaves the interpreter is too long');
    }
    return decode.call(this, input, options);
  };
}
