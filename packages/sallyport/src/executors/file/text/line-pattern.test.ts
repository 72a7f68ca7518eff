import { expect, test } from 'vitest';
import { compileLinePattern, requiredText } from './line-pattern.ts';

test('the text that every fitting line holds is found, or none where that is not sure', () => {
  const cases: Readonly<Record<string, string>> = {
    'function\\s+\\w+\\(': 'function',
    '^import .* from': 'import ',
    'colou?r': 'colo',
    'ab*': 'a',
    'a{0,2}bc': 'bc',
    'a+': 'a',
    '[abc]+def(?:x|yz)*ghij': 'ghij',
    '(abcdef)?xy': 'xy',
    'foo|bar': '',
    '(?i)foo': '',
    '\\Qfoo\\E': '',
    'a(?P<n>b|c': '',
    '\\x41bc': '',
    '\\pLbc': '',
    '[[:alpha:]]bc': '',
    '[]a]bc': 'bc',
    '(b': '',
    'éa*x': 'é',
  };
  for (const [pattern, needed] of Object.entries(cases))
    expect([pattern, requiredText(pattern)]).toEqual([pattern, needed]);
});

test('passing over lines changes no answer', () => {
  const lines = ['', 'a', 'ab', 'xay', 'abc def', 'ABC', 'ſtrange', 'K', 'k', 'foo(bar)', 'aab', '-a-b-', '😀x'];
  const patterns = [
    'a',
    'ab?',
    'a.*f',
    '[a-c]+ d',
    'foo\\(',
    'k',
    's',
    '(a|b)c',
    'x$',
    '^$',
    '-a',
    'a{2}b',
    '(?:ab)+c',
  ];
  for (const pattern of patterns) {
    for (const ignoreCase of [false, true]) {
      const compiled = compileLinePattern(pattern, false, ignoreCase);
      for (const line of lines) {
        const fits = compiled.test(line);
        if (fits) expect(compiled.candidate(line, 0), `${pattern} ${line}`).toBeGreaterThanOrEqual(0);
      }
    }
  }
});
