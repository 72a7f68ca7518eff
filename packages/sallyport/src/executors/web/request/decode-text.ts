/** Part of a page that is searched for its own charset declaration, in bytes (HTML §13.2.3.2). */
const PRESCAN_BYTES = 1024;

/**
 * Decodes bytes. The charset comes from a byte order mark, else the header, else the page itself; else UTF-8 when
 * valid, and Windows-1252 when not. Invalid bytes become U+FFFD. Unknown charset names are ignored.
 * @param isWhole false when the body was cut, maybe within a character
 */
export function decodeText(
  bytes: Buffer,
  contentType: string | undefined,
  isWhole: boolean,
): { readonly text: string; readonly charset: string } {
  const charset = markOf(bytes) ?? known(declared(contentType)) ?? prescan(bytes) ?? guessed(bytes, isWhole);
  return { text: new TextDecoder(charset).decode(bytes, { stream: !isWhole }), charset };
}

function markOf(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined;
}

function declared(contentType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*["']?([^\s"';]{1,40})/i.exec(contentType ?? '')?.[1];
}

/**
 * Finds `<meta charset>`, `<meta http-equiv>` and the XML declaration; a declaration readable as ASCII cannot mean
 * UTF-16.
 */
function prescan(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, PRESCAN_BYTES);
  const name =
    /<meta[^>]{0,500}?\bcharset\s*=\s*["']?\s*([^\s"'/>;]{1,40})/i.exec(head)?.[1] ??
    /^\s*<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([^"']{1,40})["']/.exec(head)?.[1];
  const charset = known(name);
  return charset?.startsWith('utf-16') === true ? 'utf-8' : charset;
}

function guessed(bytes: Buffer, isWhole: boolean): string {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
    return 'utf-8';
  } catch {
    return 'windows-1252';
  }
}

function known(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  try {
    return new TextDecoder(name).encoding;
  } catch {
    return undefined;
  }
}
