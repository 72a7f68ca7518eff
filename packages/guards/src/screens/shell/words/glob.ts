interface Item {
  readonly kind: 'any' | 'one' | 'set' | 'text';
  readonly text: string;
  readonly negated: boolean;
}

/** A matcher for one shell pattern (`*`, `?`, `[…]`) and many texts, each in time of their product at most. */
export function globMatcher(pattern: string): (text: string) => boolean {
  const items = itemsOf(pattern);
  return (text) => matchesItems(items, text);
}

function matchesItems(items: readonly Item[], text: string): boolean {
  let item = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < text.length) {
    const current = items[item];
    if (current?.kind === 'any') {
      star = item;
      starAt = at;
      item += 1;
    } else if (current !== undefined && matchesOne(current, text.charAt(at))) {
      item += 1;
      at += 1;
    } else if (star >= 0) {
      starAt += 1;
      at = starAt;
      item = star + 1;
    } else return false;
  }
  while (items[item]?.kind === 'any') item += 1;
  return item === items.length;
}

function matchesOne({ kind, text, negated }: Item, character: string): boolean {
  if (kind === 'one') return true;
  return kind === 'set' ? inSet(text, character) !== negated : text === character;
}

function inSet(set: string, character: string): boolean {
  for (let at = 0; at < set.length; at += 1) {
    const from = set.charAt(at);
    if (set.charAt(at + 1) === '-' && at + 2 < set.length) {
      if (character >= from && character <= set.charAt(at + 2)) return true;
      at += 2;
    } else if (from === character) return true;
  }
  return false;
}

const CLASSES: Readonly<Record<string, string>> = {
  '[:alpha:]': 'a-zA-Z',
  '[:lower:]': 'a-z',
  '[:upper:]': 'A-Z',
  '[:digit:]': '0-9',
  '[:alnum:]': 'a-zA-Z0-9',
  '[:space:]': ' \t\n',
  '[:punct:]': '!-/:-@[-`{-~',
};

function itemsOf(pattern: string): Item[] {
  const items: Item[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern.charAt(at);
    const close = character === '[' ? closeOf(pattern, at) : -1;
    if (character === '*') items.push({ kind: 'any', text: '', negated: false });
    else if (character === '?') items.push({ kind: 'one', text: '', negated: false });
    else if (close > 0) {
      items.push(setOf(pattern.slice(at + 1, close)));
      at = close;
    } else {
      if (character === '\\' && at + 1 < pattern.length) at += 1;
      items.push({ kind: 'text', text: pattern.charAt(at), negated: false });
    }
  }
  return items;
}

function closeOf(pattern: string, open: number): number {
  let at = open + 1;
  if (pattern[at] === '!' || pattern[at] === '^') at += 1;
  if (pattern[at] === ']') at += 1;
  for (; at < pattern.length; at += 1) {
    if (pattern.startsWith('[:', at)) {
      const end = pattern.indexOf(':]', at + 2);
      if (end > 0) at = end + 1;
    } else if (pattern[at] === ']') return at;
  }
  return -1;
}

function setOf(body: string): Item {
  const negated = body.startsWith('!') || body.startsWith('^');
  const members = (negated ? body.slice(1) : body).replace(/\[:[a-z]+:\]/g, (name) => CLASSES[name] ?? '');
  return { kind: 'set', text: members, negated };
}
