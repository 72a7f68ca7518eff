/**
 * Runs in a sandbox with nothing but the one package that it reads with. Takes the kind of the file, the address of the
 * package and the most characters of the text as arguments, the file on stdin, and writes
 * `{text, title, notes}` or `{fault}` as JSON.
 */
export const READING_PROGRAM = `
const [, kind, address, most] = process.argv;
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const bytes = Buffer.concat(chunks);
const max = Number(most);

async function readPdf() {
  const { getDocumentProxy } = await import(address);
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { isEvalSupported: false, stopAtErrors: false });
  const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
  const notes = [];
  const pages = [];
  let length = 0;
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const text = items.map((item) => (item.str ?? '') + (item.hasEOL ? '\\n' : '')).join('');
    pages.push(text.trim());
    length += text.length;
    page.cleanup();
    if (length > max) {
      notes.push('The text of the document is longer than what is read; the rest was left out.');
      break;
    }
  }
  const empty = pages.filter((text) => text === '').length;
  if (empty > 0) notes.push(empty + ' of its pages hold no text; they may be pictures of text.');
  return { text: pages.filter((text) => text !== '').join('\\n\\n'), title: info?.Title, notes };
}

async function readWord() {
  const { createRequire } = await import('node:module');
  const mammoth = createRequire(address)(new URL(address).pathname);
  const convertImage = mammoth.images.imgElement(async () => ({ src: '' }));
  const { value, messages } = await mammoth.convertToHtml({ arrayBuffer: new Uint8Array(bytes).buffer }, { convertImage });
  const faults = messages.filter(({ type }) => type === 'error').length;
  return { text: value, notes: faults === 0 ? [] : [faults + ' parts of the document could not be read.'] };
}

let answer;
try {
  answer = await (kind === 'pdf' ? readPdf() : readWord());
} catch (error) {
  answer = { fault: error?.name === 'PasswordException' ? 'it is encrypted' : String(error?.message ?? error).slice(0, 200) };
}
process.stdout.write(JSON.stringify(answer), () => process.exit(0));
`;
