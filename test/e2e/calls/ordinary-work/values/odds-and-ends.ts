/** Data URIs, paths, patterns, format strings, blank strings, nested JSON, CSV formulas and other oddities. */
export const oddsAndEnds: readonly string[] = [
  'data:text/html;base64,PGgxPkhlbGxvPC9oMT48c2NyaXB0PmFsZXJ0KDEpPC9zY3JpcHQ+',
  'data:text/html,<h1>Hi</h1><script>document.title="it%27s"</script>',
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAABAQAAAADcWUInAAAACklEQVR4nGNwAAAAQgBBKTf07wAAAABJRU5ErkJggg==',
  `data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='9' onload='x()'><path d='M0 0h9z'/></svg>`,
  `url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'%3E%3Cscript%3E1%3C/script%3E%3C/svg%3E")`,
  `javascript:(function(){var s=document.createElement('script');s.src='https://example.org/b.js?'+Date.now();
document.body.appendChild(s)})();void%200`,
  `javascript:alert(document.querySelectorAll('a[href]').length+' links; "ok"?')`,
  `vbscript:msgbox("old")`,
  `/home/me/My Documents/Robin's "final" draft (2) [v1] & notes; really.txt`,
  '-rf',
  '--help=$(date).txt',
  '../../../../etc/passwd',
  '..',
  '~/.config/app/*.{json,toml}',
  String.raw`C:\Program Files (x86)\Example App\bin\new\table.exe`,
  String.raw`\\fileserver\share$\Q&A 100%\user's files\*.*`,
  String.raw`\\?\C:\very\long\path\..\con.txt:stream:$DATA`,
  'CON',
  'file:///C:/Users/me/a%20b.html?x#y',
  '**/{src,test}/**/!(*.d).{ts,tsx}',
  '[!a-z]?*.{[ch],[ch]pp}',
  '0 0 1,15 * 5',
  '*/5 9-17 * JAN-JUN MON#1',
  String.raw`.items[] | select(.price < 10 and (.name | test("^a\\d+$"; "i"))) | {id, n: "\(.name)'s", t: .tags[]?}`,
  `.[0] as $x | reduce .[] as {a: $a} (0; . + $a) | @sh "rm -- \\(.)" , @html, @uri`,
  String.raw`(?<=\$|€)\d+(?:[.,]\d{2})?(?!\d)|(?<!\\)"(?:[^"\\]|\\.)*"|(?<year>\d{4})-\k<year>|\p{Lu}{2,}|\w+@[^\s<>]+`,
  String.raw`s/\(['"]\)\([^'"]*\)\1/<q>\2<\/q>/g`,
  String.raw`^(\w+\s?)+(a|aa)+$`,
  String.raw`%-10s|%05.2f|%#x|%%|%c|%n|%*d|%1$s %2$'s\n\t\a\033[0m`,
  '{0:>8} {name!r:^{width}} {{literal}} {:%Y-%m-%d}',
  '%Y-%m-%dT%H:%M:%S.%fZ',
  ' ',
  '\n',
  '\t',
  '\r\n',
  '   \n\n\t ',
  '\u00a0',
  '\u200b',
  '\u3000',
  'null',
  'undefined',
  'NaN',
  '[object Object]',
  'true',
  '0',
  '-0',
  '1e400',
  '007',
  '0x1F',
  "'",
  '"',
  '`',
  '\\',
  ';',
  '--',
  '&',
  '<',
  '>',
  '%',
  '$',
  `\${x}`,
  '$(id)',
  '{{x}}',
  '<>',
  '&amp;',
  '&lt;script&gt;',
  '&#x27;&#39;&apos;',
  '""',
  "''",
  '*/',
  '/*',
  '<!--',
  '-->',
  ']]>',
  '__proto__',
  'constructor',
  'toString',
  // A line of exactly 3,000 characters.
  `a<b&&b>c;x='1';y="2";/*z*/;`.padEnd(30, '\\').repeat(100),
  // A minified program of one line.
  `!function(){${Array.from({ length: 80 }, (_, i) => `var a${i}=e=>e<${i}&&e>0?"'${i}'":\`${i}\``).join(';')}}();`,
  String.raw`{"payload":"{\"body\":\"{\\\"html\\\":\\\"<a href=\\\\\\\"javascript:x()\\\\\\\">it's<\\/a>\\\"}\"}"}`,
  String.raw`"a JSON text which is only a string: \"\\\"\\\\\\\"\" \u0000 \ud800 \u2028"`,
  `name,amount,note
"Test, Mara",=SUM(B2:B9),"said ""no"""
+49 30 0000000,-5,@home
"=HYPERLINK(""https://example.org/?a=1&b=2"",""click"")",=1+1,'text
=cmd|'/c calc'!A0,,"two
lines"
`,
  `base: &base { image: "x:1", run: !!str yes }
list:
  - <<: *base
    name: "a & b"
  - *base
  - ? [complex, key]
    : |+
      kept

anchors: &a [1, 2, *a]
`,
  `-----BEGIN EXAMPLE BLOCK-----
Comment: this is no key at all
RVhBTVBMRSBFWEFNUExFIEVYQU1QTEUgRVhBTVBMRSBFWEFNUExFIEVYQU1QTEUg
RVhBTVBMRQ==
-----END EXAMPLE BLOCK-----
`,
  '00000000-0000-4000-8000-00000000abcd',
  'eyJleGFtcGxlIjp0cnVlfQ.eyJzdWIiOiJFWEFNUExFIn0.EXAMPLE-not-a-signature',
  'sha512-EXAMPLE/+EXAMPLE/+EXAMPLE==',
  'mailto:a@example.org?subject=Hi%20there&body=line%201%0D%0Aline%202',
  'https://user:EXAMPLE@example.org:8443/a;v=1/b?x=1&x=2&amp;y[]=<3>#!/hash?q="z"',
  'git@git.example.org:team/repo.git',
  'v1.2.3-rc.1+build.5 || >=2 <3 || ~4.5 || ^6',
  'image/svg+xml, text/html;q=0.9, */*;q=0.1',
  'bytes=0-499, -500',
  'M10 10h5v-5l-2.5,3e-1z',
  'a:3:{i:0;s:4:"it\'s";i:1;b:1;s:1:"k";O:8:"stdClass":0:{}}',
  '$argon2id$v=19$m=65536,t=3,p=4$EXAMPLE$EXAMPLE',
  '(){ :;}; echo "an old header of a test"',
  "sh -c 'sh -c '\\''echo \"$1\" '\\''\\'\\'''\\''x'\\''\\'\\'''\\'' '",
  `+++ATH0
.
QUIT`,
  '=?utf-8?B?RVhBTVBMRQ==?=',
  'xn--bcher-kva.example',
  'ex\u0430mple.org',
  '\u202egnp.exe\u202c',
  '¯\\_(ツ)_/¯',
  'Z\u0351\u036b\u0343a\u0321l\u0334g\u030ao\u0336',
  '\uFFFD\u{1F980}',
  '\u0002ACK;1;OK\u0003\u001f\u007f',
];
