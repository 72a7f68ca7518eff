import type { SandboxDriver } from '@sallyport/sandbox';
import type { PageConverter } from '../../executors/web/page/page-converter.ts';
import type { DocumentReader, ReadText } from '../../reference-servers/document-reader.port.ts';
import { readInSandbox } from '../../reference-servers/reading/read-in-sandbox.ts';

/** Address that relative links of a document belong to; it has none. */
const NOWHERE = 'document:';

/**
 * HTML is read in a thread of its own as a page of the web is; PDF and Word in a sandbox without network, Word by way of
 * HTML.
 */
export function documentReader(pages: PageConverter, driver: SandboxDriver): DocumentReader {
  const ofHtml = async (html: string, signal: AbortSignal): Promise<ReadText> => {
    const page = await pages.run<'html'>({ kind: 'html', html, url: NOWHERE, mode: 'full', links: false }, signal);
    const { content, title, notes } = page;
    return { content, notes, ...(title === undefined ? {} : { title }) };
  };
  return {
    async read(bytes, contentType, signal) {
      if (contentType === 'text/html') return ofHtml(Buffer.from(bytes).toString(), signal);
      const kind = contentType === 'application/pdf' ? 'pdf' : 'docx';
      const { text, title, notes } = await readInSandbox(driver, kind, bytes, signal);
      if (kind === 'pdf') return { content: text, notes, ...(title === undefined ? {} : { title }) };
      const read = await ofHtml(text, signal);
      return { ...read, notes: [...notes, ...read.notes] };
    },
  };
}
