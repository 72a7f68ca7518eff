import { type DomNode, ELEMENT_NODE, TEXT_NODE } from './dom.ts';

const BLOCK =
  /^(?:ADDRESS|ARTICLE|ASIDE|BLOCKQUOTE|BR|DD|DETAILS|DIV|DL|DT|FIGCAPTION|FIGURE|FOOTER|FORM|H[1-6]|HEADER|HR|LI|MAIN|NAV|OL|P|PRE|SECTION|SUMMARY|TABLE|TR|UL)$/i;

/** The text of a part of a page, one line per block. */
export function plainText(root: DomNode): string {
  const parts: string[] = [];
  collect(root, parts);
  return parts
    .join('')
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

function collect(node: DomNode, parts: string[]): void {
  if (node.nodeType === TEXT_NODE) parts.push((node.nodeValue ?? node.textContent ?? '').replaceAll(/\s+/g, ' '));
  if (node.nodeType !== ELEMENT_NODE) return;
  const isBlock = BLOCK.test(node.nodeName);
  if (isBlock) parts.push('\n');
  for (const child of node.childNodes) collect(child, parts);
  if (isBlock) parts.push('\n');
  else if (/^(?:TD|TH)$/i.test(node.nodeName)) parts.push(' ');
}
