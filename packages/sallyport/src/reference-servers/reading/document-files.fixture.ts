import { crc32 } from 'node:zlib';

/** A PDF of one page with these lines. */
export function pdfOf(lines: readonly string[], title = 'A PDF'): Buffer {
  const shown = lines.map((line, at) => `${at === 0 ? '' : '0 -20 Td '}(${line}) Tj`).join(' ');
  return pdfWith(`BT /F1 12 Tf 50 700 Td ${shown} ET`, title);
}

/** A PDF of one page with this stream of drawing. */
export function pdfWith(stream: string | Uint8Array, title = 'A PDF', filter = ''): Buffer {
  const bytes = Buffer.from(stream);
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${bytes.length} ${filter} >>\nstream\n${bytes.toString('latin1')}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    `<< /Title (${title}) >>`,
  ];
  let file = '%PDF-1.4\n';
  const places = objects.map((object, at) => {
    const place = file.length;
    file += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, '0')} 00000 n \n`;
  });
  const count = objects.length + 1;
  const table = `xref\n0 ${count}\n0000000000 65535 f \n${places.join('')}`;
  const end = `trailer << /Size ${count} /Root 1 0 R /Info 6 0 R >>\nstartxref\n${file.length}\n%%EOF`;
  return Buffer.from(file + table + end, 'latin1');
}

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** A Word document with this body. */
export const wordOf = (body: string): Buffer =>
  zipOf(wordParts(Buffer.from(body)).map(([name, bytes]) => stored(name, bytes)));

/** The parts of a Word document. */
export function wordParts(body: Uint8Array): readonly (readonly [name: string, bytes: Uint8Array])[] {
  const text = `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`;
  return [
    [
      '[Content_Types].xml',
      Buffer.from(
        `<?xml version="1.0"?><Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="${WORD}.main+xml"/></Types>`,
      ),
    ],
    [
      '_rels/.rels',
      Buffer.from(
        `<?xml version="1.0"?><Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>`,
      ),
    ],
    ['word/document.xml', Buffer.concat([Buffer.from(text), body, Buffer.from('</w:body></w:document>')])],
  ];
}

/** A paragraph of a Word document; with a style, a heading. */
export const paragraph = (text: string, style?: string): string =>
  `<w:p>${style === undefined ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}<w:r><w:t>${text}</w:t></w:r></w:p>`;

/** A file within a ZIP archive. */
export interface ZipEntry {
  readonly name: string;
  readonly crc: number;
  readonly size: number;
  readonly packed: Uint8Array;
  /** 0: as it is; 8: deflated. */
  readonly method: 0 | 8;
}

/** A file that is kept as it is. */
export const stored = (name: string, bytes: Uint8Array): ZipEntry => ({
  ...{ name, packed: bytes, method: 0, crc: crc32(bytes), size: bytes.length },
});

/** A ZIP archive. */
export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, crc, size, packed, method } of entries) {
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(crc, 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(size, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, Buffer.from(name), packed]);
    const where = Buffer.alloc(14);
    where.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, where, Buffer.from(name)]));
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, central, Buffer.from('PK\x05\x06', 'latin1'), end]);
}
