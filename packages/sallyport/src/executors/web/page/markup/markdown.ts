import TurndownService from 'turndown';
import type { DomElement } from './dom.ts';

/** An element as turndown passes it to a rule. */
type Given = DomElement & { readonly parentNode: DomElement | null; readonly nodeName: string };

/** Converts elements to Markdown: fenced code, GitHub's tables, no raw HTML. */
export function createMarkdown(): (root: DomElement) => string {
  const turndown = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    hr: '---',
    emDelimiter: '*',
  });
  turndown.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content) =>
      ` ${content
        .trim()
        .replaceAll(/\s*\n\s*/g, ' ')
        .replaceAll('|', '\\|')} |`,
  });
  turndown.addRule('row', {
    filter: 'tr',
    replacement: (content, node) => {
      const row = node as unknown as Given;
      const line = `\n|${content}`;
      return isFirstRow(row) ? `${line}\n|${' --- |'.repeat(Math.max(1, row.children.length))}` : line;
    },
  });
  turndown.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` });
  turndown.addRule('tableSection', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content });
  turndown.addRule('caption', { filter: 'caption', replacement: (content) => `${content.trim()}\n\n` });
  turndown.addRule('plainPre', {
    filter: (node) => node.nodeName === 'PRE' && (node as unknown as Given).querySelector('code') === null,
    replacement: (_content, node) => {
      const text = ((node as unknown as Given).textContent ?? '').replace(/\n$/, '');
      const ticks = fenceFor(text);
      return `\n\n${ticks}\n${text}\n${ticks}\n\n`;
    },
  });
  turndown.addRule('struck', {
    filter: ['del', 's'] as never[],
    replacement: (content) => (content.trim() === '' ? '' : `~~${content}~~`),
  });
  return (root) => turndown.turndown(root as unknown as TurndownService.Node).trim();
}

function isFirstRow(row: Given): boolean {
  const section = row.parentNode as Given | null;
  const table = section?.nodeName === 'TABLE' ? section : (section?.parentNode as Given | null);
  return table?.querySelector('tr') === row;
}

const fenceFor = (text: string): string => {
  const longest = Math.max(0, ...[...text.matchAll(/^`{3,}/gm)].map(([ticks]) => ticks.length));
  return '`'.repeat(Math.max(3, longest + 1));
};
