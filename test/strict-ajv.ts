import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';

/** A validator that refuses unknown keywords and formats, and schemas that contradict themselves. */
export function strictAjv(): Ajv2020 {
  return new Ajv2020({ strict: true, strictRequired: true, allErrors: true, formats: fullFormats });
}
