/** Short source files in Ruby, PHP, C#, Kotlin, Perl, Lua, Haskell, Make, shells, awk and sed, with some regexes. */
export const moreSourceFiles: readonly string[] = [
  `# frozen_string_literal: true

require 'optparse'

options = { depth: 2 }
OptionParser.new do |o|
  o.banner = "Usage: #{$PROGRAM_NAME} [options] DIR"
  o.on('-d', '--depth N', Integer) { |n| options[:depth] = n }
end.parse!

Dir.glob("#{ARGV.fetch(0, '.')}/**/*.rb").sort.each { |f| puts f if f.count('/') <= options[:depth] }
puts \`git status --porcelain\`.lines.grep(/^\\?\\?/).size
`,
  `class CommentsController < ApplicationController
  before_action :require_login, only: %i[create destroy]

  def index
    @comments = Comment.where("created_at > ?", 7.days.ago).order(created_at: :desc)
    render html: "<p>#{h(@comments.size)} comments</p>".html_safe
  end

  def destroy
    current_user&.comments&.find(params[:id])&.destroy!
    redirect_to comments_path, notice: %q(It's gone; that was "final".)
  end
end
`,
  `<?php
declare(strict_types=1);
$db = new PDO('sqlite::memory:');
$id = $_GET['id'] ?? '';
$row = $db->prepare('SELECT title, body FROM posts WHERE id = :id');
$row->execute([':id' => $id]);
?>
<!doctype html>
<title><?= htmlspecialchars($title ?? 'Posts', ENT_QUOTES) ?></title>
<?php foreach ($row as ['title' => $t, 'body' => $b]): ?>
  <h2 onclick="toggle(<?= (int) $id ?>)"><?= htmlspecialchars($t) ?></h2>
  <div><?= nl2br(htmlspecialchars($b)) ?></div>
<?php endforeach; ?>
<script>const id = <?= json_encode($id, JSON_HEX_TAG) ?>;</script>
`,
  `<?php
// Legacy page, kept for the refactoring exercise: everything here is wrong on purpose.
$result = mysqli_query($link, "SELECT * FROM users WHERE name = '" . $_POST['name'] . "' AND pass = '$_POST[pass]'");
if (!$result) die("Error: " . mysqli_error($link));
echo "<b>Welcome, {$_POST['name']}</b><br />\\n";
system('ping -c 1 ' . $_GET['host'] . ' 2>&1');
`,
  String.raw`<?php
namespace App\Http\Controllers;

use App\Models\Order;

final class OrderController
{
    public function show(string $id): string
    {
        return sprintf('%s \u{20AC} %\'.10d', preg_replace('~[^\w\-]+~u', '', $id), Order::find($id)?->cents ?? 0);
    }
}
`,
  `using System;
using System.Collections.Generic;
using System.Linq;

namespace Example.Inventory;

public sealed record Item(string Sku, int Count, decimal Price);

public static class Report
{
    public static string Render(IEnumerable<Item> items) =>
        string.Join(Environment.NewLine, items.Where(i => i.Count > 0 && i.Price < 100m)
            .Select(i => $"{i.Sku,-12} {i.Count,5} {i.Price:C2}"));
}
`,
  String.raw`var path = @"C:\Users\Public\Documents\report ""final"".txt";
var sql = """
    SELECT "Name" FROM "Users" WHERE "Id" = @id -- parameter, not text
    """;
using var cmd = new SqlCommand(sql, connection);
cmd.Parameters.AddWithValue("@id", id);
if (await cmd.ExecuteScalarAsync() is string { Length: > 0 } name) Console.WriteLine($"{{{name}}}\t{'\u00e9'}");
#if DEBUG
#pragma warning disable CS0168
#endif
`,
  `package com.example.notes

import java.io.File

data class Note(val title: String, val tags: Set<String> = emptySet())

fun File.notes(): Sequence<Note> = walkTopDown()
    .filter { it.extension == "md" && it.length() in 1..1_000_000 }
    .map { f ->
        Note(f.nameWithoutExtension, Regex("""#(\\w+)""").findAll(f.readText()).map { it.groupValues[1] }.toSet())
    }

fun main(args: Array<String>) {
    File(args.firstOrNull() ?: ".").notes().forEach { println("\${it.title}: \${it.tags.joinToString(" & ")}") }
}
`,
  `sealed interface Result<out T> {
    data class Ok<T>(val value: T) : Result<T>
    data class Err(val cause: Throwable) : Result<Nothing>
}

inline fun <T, R> Result<T>.map(f: (T) -> R): Result<R> = when (this) {
    is Result.Ok -> Result.Ok(f(value))
    is Result.Err -> this
}

val price = "$" + "%.2f".format(9.5) // a lone $ and an \`identifier with spaces\`
`,
  String.raw`#!/usr/bin/perl -w
use strict;
use warnings;

my %hits;
while (my $line = <STDIN>) {
    next unless $line =~ m{^(\S+) \S+ \S+ \[[^\]]+\] "(?:GET|POST) ([^ "?]+)};
    $hits{$2}{$1}++;
}
for my $path (sort { keys %{$hits{$b}} <=> keys %{$hits{$a}} } keys %hits) {
    printf "%5d %s\n", scalar(keys %{$hits{$path}}), $path;
}
`,
  String.raw`$_ = "x=1&y=2;z=%20"; s/([&;])/ $1 /g; tr/a-z/A-Z/; print "$_\n" if /X=(?<x>\d+)/ and $+{x} == 1;
my @lines = split /\r?\n/, ${'`'}uname -a; id${'`'}; print map { "[$_]\n" } grep { !/^#/ && length } @lines;
print <<"END" . <<'RAW';
Dear $ENV{USER}, you owe @{[ 3 * 7 ]} coins.
END
No $interpolation @here.
RAW
`,
  String.raw`local M = {}

--[[ Splits a string at commas;
     "a,b" -> { "a", "b" } ]]
function M.split(s)
  local out = {}
  for part in string.gmatch(s, "([^,]*),?") do
    if part ~= "" then out[#out + 1] = part:gsub("^%s+", ""):gsub("%s+$", "") end
  end
  return out, #out > 0 and [[long "string" with \n kept]] or nil
end

return M
`,
  String.raw`function love.draw()
  love.graphics.print(("Score: %d\nLives: %s"):format(score, ("\u{2665}"):rep(lives)), 10, 10)
  if lives <= 0 then os.execute("clear >/dev/null 2>&1"); error({ code = 2 }, 0) end
end
assert(load("return 1 << 4 | 3 ~ 1"))() -- bitwise, Lua 5.3
`,
  `module Main (main) where

import Data.Char (isSpace)
import qualified Data.Map.Strict as M

-- | Run-length encoding; prop> decode . encode == id
encode :: String -> [(Char, Int)]
encode = foldr step []
  where
    step c ((d, n) : rest) | c == d = (d, n + 1) : rest
    step c rest = (c, 1) : rest

main :: IO ()
main = interact $ unlines . map (show . encode . dropWhile isSpace) . lines
`,
  String.raw`{-# LANGUAGE GADTs, LambdaCase #-}
data Expr a where
  I :: Int -> Expr Int
  B :: Bool -> Expr Bool
  If :: Expr Bool -> Expr a -> Expr a -> Expr a
  (:<) :: Expr Int -> Expr Int -> Expr Bool

eval :: Expr a -> a
eval = \case { I n -> n; B b -> b; If c t e -> if eval c then eval t else eval e; a :< b -> eval a < eval b }
{- main = eval (If (I 1 :< I 2) (I 3) (I 4)) >>= \x -> print x'' -}
`,
  `CC ?= cc
CFLAGS += -std=c11 -Wall -Wextra -O2
OBJ := $(patsubst src/%.c,build/%.o,$(wildcard src/*.c))

.PHONY: all clean install
all: build/app

build/app: $(OBJ)
	$(CC) $(LDFLAGS) -o $@ $^

build/%.o: src/%.c | build
	$(CC) $(CFLAGS) -MMD -c -o $@ $<

build:
	@mkdir -p $@

clean:
	-rm -rf build *.core 2>/dev/null || true
-include $(OBJ:.o=.d)
`,
  `VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
release: ## Build and upload; needs TOKEN
	@test -n "$$TOKEN" || { echo >&2 'TOKEN is empty'; exit 1; }
	for f in dist/*.tar.gz; do sha256sum "$$f" > "$$f.sha256"; done
	tar -czf out-$(VERSION).tgz --exclude='*.tmp' dist && echo "done: $(VERSION)"
`,
  `#!/usr/bin/env bash
set -euo pipefail

cd "$(dirname "\${BASH_SOURCE[0]}")/.."
rm -rf build && mkdir build; cp -r public/. build/
npm run compile | tee build/compile.log
find build -name '*.map' -print0 | xargs -0 rm -f --
size=$(du -sk build | cut -f1)
echo "build is \${size} KiB"
if [ "$size" -gt 2048 ]; then echo 'too big' >&2; exit 1; fi
`,
  `#!/bin/sh
# Install script of the project. Usage: curl -fsSL https://get.example.org/install.sh | sh -s -- --prefix ~/.local
set -eu
prefix=/usr/local
[ "\${1:-}" = --prefix ] && prefix=$2
os=\`uname -s | tr A-Z a-z\`
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT INT TERM
curl -fsSL "https://get.example.org/tool-$os.tar.gz" | tar -xzf - -C "$tmp"
curl -fsSL https://get.example.org/deps.sh | sh
install -m 0755 "$tmp/tool" "$prefix/bin/tool" && echo "installed in $prefix"
`,
  `#!/bin/bash
# Writes a small site; the second heredoc must not expand anything.
cat > index.html <<EOF
<p>Built on $(date -u +%F) by \${USER:-nobody} at \`hostname\`</p>
EOF
cat >> index.html <<'EOF'
<script>console.log(\`\${location.href} costs $5\`);</script>
EOF
cat <<-END | sed 's/^/> /'
	indented with a tab
	END
`,
  `#!/bin/bash
for f in *.flac; do
  [[ -e $f ]] || continue
  out="\${f%.flac}.mp3"
  [[ $out -nt $f ]] && { echo "skip: $f"; continue; }
  ffmpeg -nostdin -loglevel error -i "$f" -q:a 2 "$out" || failed+=("$f")
done
((\${#failed[@]})) && printf 'failed: %q\\n' "\${failed[@]}" >&2
exit $(( \${#failed[@]} > 0 ))
`,
  `eval "$(ssh-agent -s)" >/dev/null
trap 'kill "$SSH_AGENT_PID" 2>/dev/null; exit 130' INT
ssh-add -q ~/.ssh/id_deploy </dev/null
git push --force-with-lease origin "HEAD:refs/heads/\${1:?branch missing}"
ssh deploy@host.example.org 'cd /srv/app && git pull --ff-only && sudo systemctl restart app; echo $?'
`,
  `ps aux | grep '[n]ode app.js' | awk '{print $2}' | xargs -r kill -TERM; sleep 1; nohup node app.js >log 2>&1 &`,
  `diff <(sort a.txt) <(sort b.txt) | grep '^[<>]' | cut -c3- || true; echo "\${PIPESTATUS[@]}" $? $$ $! "$@" "$*" $#`,
  `#Requires -Version 7
param([Parameter(Mandatory)][string]$Path, [switch]$Force)
$ErrorActionPreference = 'Stop'

Get-ChildItem -LiteralPath $Path -Recurse -File |
    Where-Object { $_.Length -gt 1MB -and $_.LastWriteTime -lt (Get-Date).AddDays(-30) } |
    ForEach-Object {
        Write-Host "old: $($_.FullName) {0:N1} MB" -f ($_.Length / 1MB)
        if ($Force) { Remove-Item -LiteralPath $_.FullName -Force -ErrorAction SilentlyContinue }
    }
`,
  String.raw`$env:Path += ";$env:ProgramFiles\Example\bin"
$json = @"
{ "name": "$env:USERNAME", "cost": "${'`'}$5", "when": "$(Get-Date -Format o)" }
"@ | ConvertFrom-Json
Invoke-Expression "& '.\tools\run.ps1' -Name '$($json.name)'" 2>&1 | Tee-Object -FilePath .\run.log
iwr https://get.example.org/setup.ps1 -UseBasicParsing | iex
if ($LASTEXITCODE -ne 0) { throw "exit code $LASTEXITCODE" }
`,
  String.raw`awk -F'\t' 'NR > 1 && $3 >= 18 { n[$2]++; s[$2] += $4 } END { for (k in n) print k, s[k] }' x.tsv`,
  String.raw`awk '
  BEGIN { FS = OFS = ","; RS = "\r\n" }
  /^#/ { next }
  { gsub(/"/, "\"\""); print "\"" $1 "\"", NF, length($0) > 72 ? "long" : "short" | "sort -u" }
' input.csv >&2
`,
  String.raw`sed -E -i~ 's#(https?)://old\.example\.org/([^"&]*)#\1://new.example.org/\2#g; /^[[:space:]]*$/d' *.html`,
  String.raw`sed -n '/BEGIN/,/END/{/BEGIN/n;/END/!p}' notes.txt | sed ':a;N;$!ba;s/\n/\\n/g' | sed "s/'/'\\\\''/g"`,
  String.raw`^(?=.{8,64}$)(?=.*\d)(?=.*[a-z])(?=.*[A-Z])(?=.*[^\w\s])\S+$`,
  String.raw`/(["'])(?:\\.|(?!\1)[^\\\r\n])*\1|${'`'}(?:\\[\s\S]|\$\{[^}]*\}|[^\\${'`'}])*${'`'}|\/\/.*/gmu`,
  String.raw`(?i)(union(\s|/\*.*?\*/)+select|\bor\s+\d+\s*=\s*\d+|<script[^>]*>|\.\./|;\s*(rm|cat)\s) # rule 17`,
  String.raw`# Matches an e-mail address well enough
EMAIL = re.compile(r"""
    (?P<local>[\w.!#$%&'*+/=?^${'`'}{|}~-]+)   # before the at sign
    @
    (?P<domain>(?:[a-z0-9-]+\.)+[a-z]{2,})   # after it
""", re.X | re.I)
`,
];
