import type { createDocumentServer } from '../../../packages/sallyport/src/reference-servers/documents.ts';
import { type Figure, figureOf } from '../../report/figure.ts';
import { drawn, pages, sentencesOf } from './corpus.ts';
import { PARAPHRASES } from './paraphrases.ts';

const CALLER = { tenantId: 'overlaps', agentDid: 'did:example:bench' };
type Server = ReturnType<typeof createDocumentServer>;
interface Found {
  readonly document: { readonly document_id: string };
  readonly kind: string;
}

const call = async (server: Server, tool: string, args: Record<string, unknown>): Promise<Record<string, unknown>> =>
  (await server.call(tool, args, CALLER, new AbortController().signal))['structuredContent'] as Record<string, unknown>;

const overlapsOf = async (server: Server, content: string): Promise<readonly Found[]> =>
  (await call(server, 'find_overlaps', { content }))['overlaps'] as readonly Found[];

/** Of pairs made from the pages of the documentation, and of passages paraphrased by hand: the share that is found. */
export async function overlapFigures(server: Server): Promise<readonly Figure[]> {
  const texts = pages();
  for (const [at, content] of texts.entries())
    await call(server, 'ingest_document', { document_id: `page-${at}`, title: `Page ${at}`, content });
  for (const [at, [content]] of PARAPHRASES.entries())
    await call(server, 'ingest_document', { document_id: `passage-${at}`, title: `Passage ${at}`, content });
  const share = async (kept: number): Promise<number> => {
    const found = await Promise.all(
      texts.map(async (text, at) => isFound(server, edited(text, kept, at), `page-${at}`)),
    );
    return found.filter(Boolean).length / texts.length;
  };
  const part = texts.map((text) => text.slice(text.length / 3, text.length / 3 + 1_500));
  const parts = await Promise.all(part.map((text, at) => isFound(server, text, `page-${at}`)));
  const paraphrased = await Promise.all(
    PARAPHRASES.map(([, paraphrase], at) => isFound(server, paraphrase, `passage-${at}`)),
  );
  return [
    figureOf('overlaps found: the page itself', 'share', await share(1), { atLeast: 1 }),
    figureOf('overlaps found: 1 500 characters of it', 'share', parts.filter(Boolean).length / parts.length),
    figureOf('overlaps found: a third of its sentences written anew', 'share', await share(2 / 3), { atLeast: 0.95 }),
    figureOf('overlaps found: two thirds written anew', 'share', await share(1 / 3)),
    figureOf('overlaps found: paraphrased by hand', 'share', paraphrased.filter(Boolean).length / PARAPHRASES.length),
    ...(await falseAlarms(server, texts)),
  ];
}

async function isFound(server: Server, content: string, documentId: string): Promise<boolean> {
  return (await overlapsOf(server, content)).some(({ document }) => document.document_id === documentId);
}

/** The text with only this share of its sentences as they were. */
function edited(text: string, kept: number, seed: number): string {
  const next = drawn(seed + 1);
  return sentencesOf(text)
    .map((sentence, at) =>
      next() < kept ? sentence : `Here stood sentence ${at}, which says another thing ${next()} now.`,
    )
    .join(' ');
}

/** Pages that are reported as overlapping with a page that they share no passage with. */
async function falseAlarms(server: Server, texts: readonly string[]): Promise<readonly Figure[]> {
  const others = await Promise.all(
    texts.map(async (text, at) =>
      (await overlapsOf(server, text)).filter(({ document }) => document.document_id !== `page-${at}`),
    ),
  );
  const count = (kinds: readonly string[]): number =>
    others.flat().filter(({ document, kind }) => document.document_id.startsWith('page-') && kinds.includes(kind))
      .length;
  const pairs = texts.length * (texts.length - 1);
  return [
    figureOf('other pages reported: same words', 'share of pairs', count(['verbatim', 'edited']) / pairs),
    figureOf('other pages reported: same meaning', 'share of pairs', count(['paraphrased']) / pairs),
  ];
}
