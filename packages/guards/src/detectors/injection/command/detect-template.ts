import type { Report } from '../finding.ts';

/** Where an expression of a template engine begins: Jinja, Twig, ERB, FreeMarker, Velocity, SpEL, OGNL, Razor, Smarty. */
const OPENING = /\{\{|\{%|[$#*%@]\{|<%|<#|#set\s?\(|\{php\}/g;
const CLOSING: Readonly<Record<string, string>> = { '{{': '}}', '{%': '%}', '<%': '%>', '<#': '>' };
/** Openings in one text that are read. */
const OPENINGS_MAX = 32;
/** Characters of an expression that are read. */
const EXPRESSION_MAX = 400;

/** What leads from an expression to the program around it: reflection, a loader of classes, a start of a program. */
const REACHES = new RegExp(
  [
    '__(?:globals|builtins|subclasses|mro|import|bases?|getattribute|reduce_ex)__',
    '\\bsubclasses\\s?\\(|\\bimport\\s+(?:os|subprocess)\\b|\\bos\\s?\\.\\s?(?:system|popen)\\s?\\(|\\bpopen\\s?\\(',
    '\\bjava\\.lang\\.(?:runtime|process|class|system|thread)|\\bjavax\\.script\\b|\\bgetruntime\\b|\\bforname\\s?\\(',
    '\\bgetclass\\s?\\(\\s?\\)|freemarker\\.template\\.utility|\\bsystem\\.diagnostics\\b',
    '\\bconstructor\\s?\\.\\s?constructor\\b|\\bconstructor\\s?\\(\\s?["\']|\\bmainmodule\\b|\\bchild_process\\b',
    '\\bregisterundefined\\w{1,16}callback\\b|\\b_self\\.env\\b',
    '\\|\\s?(?:filter|map|sort|reduce)\\s?\\(\\s?["\'](?:system|exec|passthru|shell_exec|popen|assert|phpinfo)\\b',
    '\\b(?:system|exec|passthru|shell_exec)\\s?\\(\\s?["\'`]',
  ].join('|'),
  'i',
);
/** A lookup of a name in a directory by a logger, plain or spelt by lookups within it. */
const LOOKUP = /\$\{(?:jndi:|[jndi]{0,3}\$\{(?:lower|upper|env|sys|ctx|main|date|java|:)[:\w-])/i;
/** `{{7*7}}` as a value: only a guess at the engine multiplies two constants. */
const PROBE =
  /^\S{0,24}(?:\{\{|\$\{\{?|[#*@]\{|<%=|@\()\s{0,4}\d{1,6}\s{0,4}\*\s{0,4}["']?\d{1,6}["']?\s{0,4}(?:\}\}?|%>|\))\S{0,24}$/;
/** No value of this kind is longer. */
const PROBE_MAX = 80;

/** Looks for an expression of a template engine that would run a program, or that tries whether it is evaluated. */
export function detectTemplate(text: string, mayReach: boolean, report: Report): void {
  if (text.length <= PROBE_MAX && PROBE.test(text)) report('template_probe', 0, text.length);
  if (!mayReach) return;
  const lookup = text.includes('${') ? LOOKUP.exec(text) : null;
  if (lookup !== null) report('template', lookup.index, lookup.index + lookup[0].length);
  OPENING.lastIndex = 0;
  for (let count = 0; count < OPENINGS_MAX; count++) {
    const opening = OPENING.exec(text);
    if (opening === null) return;
    const end = endOf(text, opening);
    if (!REACHES.test(text.slice(opening.index, end))) continue;
    report('template', opening.index, end);
    return;
  }
}

function endOf(text: string, { 0: sign, index }: RegExpExecArray): number {
  const limit = Math.min(text.length, index + EXPRESSION_MAX);
  const closing = CLOSING[sign] ?? (sign.length === 2 ? '}' : undefined);
  const end = closing === undefined ? -1 : text.indexOf(closing, index + 2);
  return end < 0 ? limit : Math.min(limit, end + (closing?.length ?? 0));
}
