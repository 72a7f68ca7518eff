/**
 * Makes a test whether a text matches a pattern in which `*` stands for any run of characters, also an empty one;
 * nothing else is special. Linear in the text: the parts between stars are searched from left to right, never twice.
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
