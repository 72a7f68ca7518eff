/**
 * Whether a text fits a pattern in which `*` stands for any run of characters, an empty one too; nothing else is special.
 * Linear in the text: the parts between stars are looked for from left to right, and never twice.
 */
export function wildcardMatcher(pattern: string): (text: string) => boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return (text) => text === pattern;
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last)) return false;
    let at = first.length;
    for (const part of others) {
      const found = text.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return at <= text.length - last.length;
  };
}
