/** Short source files in Python, JavaScript, TypeScript, Java, C, C++, Rust and Go, as agents write them. */
export const sourceFiles: readonly string[] = [
  `#!/usr/bin/env python3
"""Count the words of the files named on the command line."""
import collections
import sys

counts = collections.Counter()
for name in sys.argv[1:]:
    with open(name, encoding='utf-8') as handle:
        counts.update(word.lower() for line in handle for word in line.split())

for word, n in counts.most_common(10):
    print(f"{n:>6} {word}")
`,
  String.raw`import os
import re
import subprocess

TAG = re.compile(r'^v(\d+)\.(\d+)\.(\d+)(?:-rc\.(\d+))?$')


def latest_tag(repo: str) -> str | None:
    out = subprocess.run(['git', '-C', repo, 'tag', '--list', 'v*'], capture_output=True, text=True, check=True)
    tags = [t for t in out.stdout.split('\n') if TAG.match(t)]
    return max(tags, key=lambda t: [int(x or 0) for x in TAG.match(t).groups()]) if tags else None


if __name__ == '__main__':
    os.system('rm -rf dist/* && mkdir -p dist')  # noqa: S605
    print(latest_tag('.') or '(none)')
`,
  `import sqlite3


def find_user(db: sqlite3.Connection, name: str):
    # Never: db.execute("SELECT * FROM users WHERE name = '" + name + "'")
    return db.execute("SELECT id, name FROM users WHERE name = ?", (name,)).fetchone()


def test_hostile_name_is_only_a_name(db):
    assert find_user(db, "'; DROP TABLE users; --") is None
    assert db.execute("SELECT count(*) FROM users").fetchone()[0] == 3
`,
  `from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Interval:
    low: int
    high: int
    tags: tuple[str, ...] = field(default=())

    def __contains__(self, x: int) -> bool:
        return self.low <= x < self.high

    def __and__(self, other: "Interval") -> "Interval | None":
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Interval(low, high) if low < high else None
`,
  String.raw`import html
import pickle  # only for files that this very program wrote
import urllib.parse as up

print(html.escape('<b onclick="x()">Tim & Anna\'s</b>'))
print(up.quote('../../etc/passwd\n'), up.unquote('%2e%2e%2f'))
print(eval('1 + 1'), exec('y = 2'), __import__('os').sep)
print("tab\there", r"raw\tthere", b"\x00\xff\x7f".hex(), '\N{SNOWMAN}', """a "quoted" word""")
`,
  `'use strict';
const { readFileSync, writeFileSync } = require('node:fs');
const { execFileSync } = require('node:child_process');

const pkg = JSON.parse(readFileSync('package.json', 'utf8'));
const sha = execFileSync('git', ['rev-parse', '--short', 'HEAD']).toString().trim();
pkg.version = \`\${pkg.version.split('+')[0]}+\${sha}\`;
writeFileSync('package.json', JSON.stringify(pkg, null, 2) + '\\n');
`,
  `// ==ClientScript==
document.addEventListener('DOMContentLoaded', () => {
  const box = document.getElementById('comments');
  for (const c of window.__COMMENTS__ ?? []) {
    const p = document.createElement('p');
    p.textContent = c.text; // not innerHTML: c.text may be "<img src=x onerror=alert(1)>"
    box.append(p);
  }
  document.cookie = 'seen=1; path=/; SameSite=Lax';
  setTimeout(() => location.reload(), 60_000);
});
`,
  String.raw`const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (c) => ESCAPES[c]);
}

export const slug = (s) =>
  s.normalize('NFKD').replace(/[\u0300-\u036f]/g, '').replace(/[^\w\s-]+/g, '').trim().replace(/\s+/g, '-');

export const unsafe = /<\/?script\b[^>]*>|javascript:|\bon\w+\s*=/i;
`,
  `(function(r,f){typeof exports=='object'?module.exports=f():r.tiny=f()})(this,function(){var s=[].slice;return{
on:function(e,f){(this._e=this._e||{})[e]=(this._e[e]||[]).concat(f)},emit:function(e){var a=s.call(arguments,1);
((this._e||{})[e]||[]).forEach(function(f){f.apply(null,a)})}}});`,
  `export async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + chunk).split(/\\r?\\n/);
    rest = parts.pop() ?? '';
    yield* parts;
  }
  if (rest !== '') yield rest;
}
`,
  `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQuery } from '../src/query.js';

test('keeps hostile looking values as they are', () => {
  assert.deepEqual(parseQuery('?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E&id=1%27%20OR%20%271%27=%271'), {
    q: '<script>alert(1)</script>',
    id: "1' OR '1'='1",
  });
  assert.throws(() => parseQuery('%E0%A4%A'), URIError);
  assert.equal(Object.hasOwn(parseQuery('__proto__=1'), '__proto__'), true);
});
`,
  `type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type DeepKeys<T> = T extends object ? {
  [K in keyof T & string]: K | \`\${K}.\${DeepKeys<T[K]>}\`;
}[keyof T & string] : never;

declare global {
  interface Window {
    readonly __STATE__?: Json;
  }
}

export const isRecord = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null;
`,
  `import { useEffect, useState } from 'react';

export function Clock({ label = 'Now' }: { label?: string }) {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const id = setInterval(() => setNow(new Date()), 1000);
    return () => clearInterval(id);
  }, []);
  return (
    <time dateTime={now.toISOString()} onClick={() => setNow(new Date())}>
      {label}: {now.toLocaleTimeString()} {now.getHours() < 12 && <em>(a.m.)</em>}
    </time>
  );
}
`,
  `export const Preview = ({ html, onClose }: { html: string; onClose(): void }) => (
  <>
    <iframe sandbox="" srcDoc={html} title="Preview" style={{ border: 0, width: '100%' }} />
    <div dangerouslySetInnerHTML={{ __html: sanitize(html) }} />
    <button type="button" disabled={!html} onClick={onClose}>&times; Close</button>
  </>
);
`,
  `package com.example.shop;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Groups orders; {@code null} is never returned. */
public final class Orders {
  public record Order(String id, String customer, long cents) {}

  public static Map<String, Long> totals(List<? extends Order> orders) {
    return orders.stream().collect(Collectors.groupingBy(Order::customer, Collectors.summingLong(Order::cents)));
  }
}
`,
  `import java.sql.*;

class UserDao {
  private final Connection c;
  UserDao(Connection c) { this.c = c; }

  boolean exists(String name) throws SQLException {
    try (PreparedStatement s = c.prepareStatement("SELECT 1 FROM users WHERE name = ? AND deleted_at IS NULL")) {
      s.setString(1, name);
      try (ResultSet r = s.executeQuery()) { return r.next(); }
    }
  }
}
`,
  String.raw`class Quoting {
  static final String BLOCK = """
      {"path": "C:\\temp\\new", "tab": "\t", "cmd": "echo $HOME && ls | wc -l"}
      """;

  public static void main(String... args) throws Exception {
    var p = new ProcessBuilder("sh", "-c", "ls -1 \"$1\" 2>/dev/null | head -n 3", "sh", "/tmp").inheritIO().start();
    System.exit(p.waitFor() == 0 ? 0 : '\u0041' - 64);
  }
}
`,
  String.raw`#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	char buf[64];
	if (argc < 2 || strlen(argv[1]) >= sizeof buf) {
		fprintf(stderr, "usage: %s NAME (at most %zu bytes)\n", argv[0], sizeof buf - 1);
		return EXIT_FAILURE;
	}
	strcpy(buf, argv[1]); /* checked above */
	printf("%s\t%%%p%%\n", buf, (void *)buf);
	return 0;
}
`,
  `#ifndef RING_H
#define RING_H
#define RING_MASK(n) ((n) - 1u)
#define SWAP(a, b) do { __typeof__(a) t_ = (a); (a) = (b); (b) = t_; } while (0)

struct ring { unsigned head, tail; unsigned char data[1u << 8]; };
static inline int ring_empty(const struct ring *r) { return r->head == r->tail; }
static inline void ring_put(struct ring *r, unsigned char c) { r->data[r->tail++ & 0xffu] = c; }

#endif /* RING_H */
`,
  `static void on_signal(int signo) { (void)signo; write(2, "bye\\n", 4); _exit(128 + signo); }

int spawn(char *const argv[]) {
  pid_t pid = fork();
  if (pid == 0) { execvp(argv[0], argv); _exit(127); }
  int status;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) ;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
`,
  String.raw`/* A state machine for strings such as 'it''s' and "a\"b". */
enum state { PLAIN, SINGLE, DOUBLE };
enum state step(enum state s, int c) {
  switch (s) {
  case PLAIN: return c == '\'' ? SINGLE : c == '"' ? DOUBLE : PLAIN;
  case SINGLE: return c == '\'' ? PLAIN : SINGLE;
  case DOUBLE: if (c == '\\') (void)getchar(); return c == '"' ? PLAIN : DOUBLE;
  }
  return PLAIN; /* for the compiler; \0 ends every string */
}
`,
  `#include <algorithm>
#include <iostream>
#include <map>
#include <vector>

template <typename K, typename V, class Less = std::less<>>
auto by_value(const std::map<K, V, Less>& m) {
  std::vector<std::pair<K, V>> out(m.begin(), m.end());
  std::sort(out.begin(), out.end(), [](auto&& a, auto&& b) { return a.second > b.second; });
  return out;
}

int main() { for (auto& [k, v] : by_value(std::map<char, int>{{'a', 1}, {'b', 2}}))
  std::cout << k << '=' << v << "\\n"; }
`,
  String.raw`constexpr auto kPage = R"html(<!DOCTYPE html>
<script>if (1 < 2 && 2 > 1) document.write("\u003cp>ok</p>");</script>
)html";

static_assert(sizeof(kPage) > 0 && '\\' == 0x5c && '\?' == '?');
using namespace std::string_literals;
auto path = L"C:\\Windows\\Temp"s; // trailing backslash next: \
still a comment
`,
  `class Matrix {
public:
  explicit Matrix(std::size_t n) : n_{n}, cells_(n * n) {}
  double& operator()(std::size_t r, std::size_t c) noexcept { return cells_[r * n_ + c]; }
  friend std::ostream& operator<<(std::ostream& o, const Matrix& m) { return o << "Matrix<" << m.n_ << ">"; }
  auto operator<=>(const Matrix&) const = default;
private:
  std::size_t n_;
  std::vector<double> cells_;
};
`,
  `use std::{collections::BTreeMap, env, fs, io};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let text = fs::read_to_string(env::args().nth(1).ok_or(io::ErrorKind::InvalidInput)?)?;
    for word in text.split_whitespace() {
        *seen.entry(word).or_default() += 1;
    }
    seen.iter().filter(|(_, &n)| n > 1).for_each(|(w, n)| println!("{n:>5} {w:?}"));
    Ok(())
}
`,
  String.raw`macro_rules! hashmap {
    ($($k:expr => $v:expr),* $(,)?) => {{ let mut m = ::std::collections::HashMap::new(); $(m.insert($k, $v);)* m }};
}

#[cfg(test)]
mod tests {
    #[test]
    fn escapes() {
        let m = hashmap! { 'q' => r#"say "hi""#, 'n' => "line\n\u{1F980}", '\'' => "it's" };
        assert_eq!(m[&'n'].chars().count(), 6);
    }
}
`,
  `pub fn longest<'a>(a: &'a str, b: &'a str) -> &'a str { if a.len() >= b.len() { a } else { b } }

/// # Safety
/// \`p\` must point to \`n\` initialised bytes.
pub unsafe fn view<'a>(p: *const u8, n: usize) -> &'a [u8] { core::slice::from_raw_parts(p, n) }
`,
  `package main

import (
	"fmt"
	"html/template"
	"log"
	"net/http"
)

var page = template.Must(template.New("hi").Parse(\`<h1>Hello, {{.Name | html}}</h1>
<a href="/?q={{.Query}}">again</a>\`))

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if err := page.Execute(w, map[string]string{"Name": r.FormValue("name"), "Query": r.URL.RawQuery}); err != nil {
			http.Error(w, fmt.Sprintf("template: %v", err), 500)
		}
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:8080", nil))
}
`,
  `func merge[T any](a, b <-chan T) <-chan T {
	out := make(chan T)
	go func() {
		defer close(out)
		for a != nil || b != nil {
			select {
			case v, ok := <-a:
				if !ok { a = nil } else { out <- v }
			case v, ok := <-b:
				if !ok { b = nil } else { out <- v }
			}
		}
	}()
	return out
}
`,
  `//go:build linux && !cgo

package run

// Shell runs a command line with sh -c; callers must quote with Quote.
func Shell(ctx context.Context, line string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line+" 2>&1")
	cmd.Env = append(os.Environ(), "LC_ALL=C", \`IFS= \`)
	return cmd.Output()
}

func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", \`'"'"'\`) + "'" }
`,
];
