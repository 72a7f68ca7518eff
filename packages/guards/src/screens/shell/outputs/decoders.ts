import { gunzipSync, inflateSync } from 'node:zlib';
import { SHELL_SCREEN_BOUNDS } from '../bounds.ts';

/** Base64 as text; a shell drops bytes that are no characters anyhow. */
export function decodeBase64(text: string): string {
  return Buffer.from(text, 'base64').toString('latin1');
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Base32 as text. */
export function decodeBase32(text: string): string {
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const character of text.toUpperCase()) {
    const value = ALPHABET.indexOf(character);
    if (value < 0) continue;
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 0xff);
  }
  return Buffer.from(bytes).toString('latin1');
}

/** What `xxd -r -p` makes of hexadecimal digits; offsets and the column of characters of a dump are dropped. */
export function decodeHex(text: string): string {
  const digits = text
    .split('\n')
    .map((line) => line.replace(/^[\da-f]+:\s+/i, '').replace(/ {2}.*$/, ''))
    .join('')
    .replace(/0x|\\x|[^\da-f]/gi, '');
  return Buffer.from(digits, 'hex').toString('latin1');
}

/** Letters thirteen places on. */
export function decodeRot13(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
  });
}

/** Unpacks gzip or zlib; undefined when it is neither, or too much. */
export function inflate(text: string): string | undefined {
  const options = { maxOutputLength: SHELL_SCREEN_BOUNDS.textCharactersMax };
  const bytes = Buffer.from(text, 'latin1');
  try {
    return (bytes[0] === 0x1f ? gunzipSync(bytes, options) : inflateSync(bytes, options)).toString('latin1');
  } catch {
    return undefined;
  }
}
