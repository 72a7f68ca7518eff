import { expect, test } from 'vitest';
import { callOf } from '../../conformance/executor-call.fixture.ts';
import { configFaults } from '../config-faults.ts';
import { planOf } from '../shell-plan.ts';
import { createShellPolicy } from '../shell-policy.ts';
import { createShellScreen } from '../shell-screen.ts';

const screen = createShellScreen(createShellPolicy());

/** What happens to a tool with this command: it is refused at registration, each call needs an approval, or it runs. */
function fate(line: string, more: Record<string, unknown> = {}, a = 'alpha'): string {
  const text = { type: 'string' };
  const { tool } = callOf({
    parameters_schema: { type: 'object', properties: { a: text, b: text, o: text }, required: ['a', 'b'] },
    executor: { kind: 'shell', config: { command: line.split(' ').map((word) => word.replaceAll('_', ' ')), ...more } },
  });
  if (configFaults(tool.manifest).length > 0) return 'refused';
  const { question, refused } = screen(tool, { a, b: 'beta' });
  if (question !== undefined || refused !== undefined) return planOf(tool.manifest).isOpen ? 'asked' : 'asked anyway';
  return 'runs';
}

const fates = (lines: readonly string[]): Record<string, string> =>
  Object.fromEntries(lines.map((line) => [line, fate(line)]));

/** Commands in which a parameter is code or names a program, whatever its value is. */
const RUN = [
  'env -S {a}',
  'env {a}',
  'env -i X=1 {a} b',
  'env LD_PRELOAD={a} ls',
  'rbash -c {a}',
  'fish --command={a}',
  'sh -euc {a}',
  'perl -M{a} x.pl',
  'perl -d:{a} x.pl',
  'python3 -m {a}',
  'node --run {a}',
  'find . -exec {a} ;',
  'find . -name x -execdir sh -c {a} ;',
  'find . -ok {a} ;',
  'tar -cf x --checkpoint=1 --checkpoint-action={a} .',
  'tar -cf x --checkpoint-act={a} .',
  'tar -xf x --to-command {a}',
  'tar -I {a} -xf x',
  'tar -xf x --use-compress-program={a}',
  'tar --rsh-command={a} -xf x',
  'git -c {a} status',
  'git -c core.pager={a} log',
  'git -c alias.x={a} x',
  'git clone --upload-pack {a} x y',
  'git clone -u {a} x y',
  'git push --exec={a} x',
  'git difftool -x {a}',
  'git rebase -x {a} main',
  'git --exec-path={a} status',
  'git submodule foreach {a}',
  'ssh -o {a} host uptime',
  'ssh -oProxyCommand={a} host uptime',
  'ssh host {a}',
  'scp -S {a} x y',
  'scp -o {a} x y',
  'rsync -e {a} x y',
  'rsync --rsync-path={a} x y',
  'watch {a}',
  'vim -c {a} x',
  'vim +{a} x',
  'less +{a} x',
  'man -P {a} ls',
  'wget --use-askpass={a} https://example.org',
  'zip -TT {a} x.zip y',
  'xargs {a}',
  'parallel {a}',
  'gdb -ex {a} x',
  'sqlite3 -cmd {a} x.db',
  'make --eval={a}',
  'nice {a}',
  'timeout 5 {a}',
  'nohup {a}',
  'stdbuf -oL {a}',
  'setsid {a}',
  'chroot / {a}',
  'unshare {a}',
  'nsenter -t 5 {a}',
  'flock x {a}',
  'flock x -c {a}',
  'script -c {a} x',
  'su user -c {a}',
  'sudo {a}',
  'sudo -u root {a}',
  'doas {a}',
  'busybox {a}',
  'busybox sh -c {a}',
  'start-stop-daemon --exec {a}',
  'socat - {a}',
  'nc -e {a} host 1',
  'ncat --sh-exec {a} host 1',
  'sort --compress-program={a} x',
  'split --filter={a} x',
  'apt -o {a} list',
  'docker exec box {a}',
  'docker run box sh -c {a}',
  'kubectl exec pod -- {a}',
  'systemd-run {a}',
  'strace {a}',
  'strace -o {a} ls',
  'ltrace {a}',
  'time {a}',
  'expect -c {a}',
  'emacs --eval {a}',
  'gcc -wrapper {a} x.c',
  'java -jar {a}',
  'npx {a}',
  'bunx {a}',
  'npm exec {a}',
  'php -d {a} x.php',
  'php -r {a}',
  'jq -f {a} x.json',
  'awk -e {a}',
  'sed s/x/{a}/e y',
  'deno eval {a}',
];

/** Commands in which a parameter may become code or a program, through an option, a file or a setting. */
const ASK = [
  'perl -I{a} x.pl',
  'perl {a}',
  'perl -x{a} x.pl',
  'find . -fprintf {a} x',
  'find -- {a}',
  'git -C {a} status',
  'git --git-dir={a} log',
  'git {a} x',
  'git config {a} {b}',
  'git log --output={a}',
  'ssh -F {a} host',
  'node --import {a} x.js',
  'node --require={a} x.js',
  'node -r {a} x.js',
  'node --loader {a} x.js',
  'node --env-file={a} x.js',
  'node {a}',
  'ruby -r{a} x.rb',
  'python3 -m pdb {a}',
  'tar -x -f {o} -- {a}',
  'tar -T {a} -cf x',
  'tar cIf {a} {b} x',
  'wget -O {a} https://example.org',
  'curl -K {a}',
  'curl -o {a} https://example.org',
  'make -f {a}',
  'make X={a}',
  'make {a}',
  'sqlite3 x.db {a}',
  'psql -c {a}',
  'less {a}',
  'openssl dgst -engine {a} x',
  'dpkg -i {a}',
  'docker run {a}',
  'tclsh {a}',
  'm4 {a}',
  'bc {a}',
  'ed {a}',
  'ex {a}',
  'gcc -fplugin={a} x.c',
  'ld -plugin {a} x.o',
  'java -agentlib:{a} Main',
  'mvn {a}',
  'gradle {a}',
  'npm run {a}',
  'npm install {a}',
  'pip install {a}',
  'awk -f {a} x',
  'sed -f {a} x',
  'xdg-open {a}',
  'awk -F {o} {{print}} x',
];

/** Commands that tools usually have. */
const ORDINARY = [
  'cat {a}',
  'cat -- {a}',
  'ls -la {a}',
  'ls -l -- {a} {b}',
  'head -n {a} {b}',
  'tail -n 5 {a}',
  'wc -l {a}',
  'grep -rn -- {a} {b}',
  'grep -e {a} {b}',
  'grep --include={a} -r x {b}',
  'rg -n {a} {b}',
  'rg --glob {a} -- {b} .',
  'echo {a}',
  'printf %s {a}',
  'cp {a} {b}',
  'cp -- {a} {b}',
  'mv -- {a} {b}',
  'mkdir -p {a}',
  'touch -- {a}',
  'rm -- {a}',
  'date -d {a} +%s',
  'sha256sum {a}',
  'diff -u {a} {b}',
  'sort {a}',
  'sort -k {a} {b}',
  'sort -n -- {a}',
  'uniq -c {a}',
  'cut -d, -f1 {a}',
  'jq .name {a}',
  'jq -r .name {a}',
  'jq --arg x {a} .y {b}',
  'curl -sS https://example.org/{a}',
  'curl --silent --fail --max-time 10 -- {a}',
  'curl -X POST -d {a} https://example.org',
  'curl -sSL -H {a} https://example.org',
  'wget -q https://example.org/{a}',
  'git log --oneline -n {a}',
  'git log --author={a} --since {b}',
  'git diff {a} {b}',
  'git show {a}',
  'git status -- {a}',
  'git blame -- {a}',
  'git grep -n -e {a}',
  'find {a} -name {b}',
  'find {a} -type f -maxdepth 2 -print',
  'tar -czf {a} {b}',
  'tar czf {a} {b}',
  'tar -xzf {a} -C {b}',
  'tar -tf {a}',
  'gzip -k {a}',
  'unzip {a}',
  'zip -rq {a} {b}',
  'rsync -av --delete {a} {b}',
  'node script.js {a}',
  'node --no-warnings /srv/tool.mjs --name {a}',
  'python3 script.py {a}',
  'python3 -u /srv/tool.py --out={a} {b}',
  'ruby /srv/tool.rb {a}',
  'perl /srv/tool.pl {a}',
  'php /srv/tool.php {a}',
  'java -jar /srv/app.jar {a}',
  'sh /srv/tool.sh {a}',
  '/srv/project/bin/format {a}',
  '/srv/project/bin/make {a}',
  'own-program --config {a} -- {b}',
  'timeout 5 cat {a}',
  'timeout {a} cat {b}',
  'env LANG=C sort {a}',
  'nice -n 5 wc {a}',
  'openssl dgst -sha256 {a}',
  'convert-own {a}',
  'docker logs {a}',
  'kubectl get pods -n {a}',
  'npm ls {a}',
  'pip show {a}',
  'xxd {a}',
  'file {a}',
  'stat {a}',
  'du -sh {a}',
  'ping -c 1 {a}',
  'base64 {a}',
  'tee {a}',
  'ln -s {a} {b}',
  'chmod 644 {a}',
  'pdftotext {a} -',
  'ffmpeg -i {a} out.mp4',
];

/** Commands that need an approval whatever the parameter is; the place of the parameter changes nothing. */
const ASKED_ANYWAY = [
  './bin/watch {a}',
  '/srv/project/bin/git {a}',
  'find . -name {a} -exec wc -l {} +',
  'git -c user.name={a} commit -m {b}',
  'git add -- {a}',
  'git checkout {a}',
  'git clone {a} {b}',
  'git commit -m {a}',
  'ssh -o ConnectTimeout={a} host uptime',
];

test('EXE-02 a parameter that is run as code or names what is run is refused at registration', () => {
  expect(fates(RUN)).toEqual(Object.fromEntries(RUN.map((line) => [line, 'refused'])));
});

test('EXE-02 a parameter that may lead there waits for a person in each call', () => {
  expect(fates(ASK)).toEqual(Object.fromEntries(ASK.map((line) => [line, 'asked'])));
});

test('EXE-02 ordinary commands are neither refused nor asked about', () => {
  expect(fates(ORDINARY)).toEqual(Object.fromEntries(ORDINARY.map((line) => [line, 'runs'])));
  expect(fates(ASKED_ANYWAY)).toEqual(Object.fromEntries(ASKED_ANYWAY.map((line) => [line, 'asked anyway'])));
});

test('EXE-02 values that may begin with a dash are asked about where the program can run others', () => {
  const open = { allow_leading_dash: true };
  expect([fate('tar -xf {a}', open), fate('cat {a}', open), fate('curl -- {a}', open)]).toEqual([
    'runs',
    'runs',
    'runs',
  ]);
  expect([fate('tar -x {a}', open), fate('curl {a}', open)]).toEqual(['asked', 'asked']);
});

test('EXE-02 where a parameter may choose an option, what is known to read only is not asked about', () => {
  for (const line of ['git log --{a}', 'git {a}']) expect(fate(line, {}, 'status'), line).toBe('runs');
  expect(fate('git log --{a}', {}, 'output=x')).toBe('asked');
  expect([fate('env -- git log {a}', {}, '-3'), fate('env -- git log {a}', {}, '--output=x')]).toEqual([
    'runs',
    'asked',
  ]);
});

test('EXE-02 what comes in is asked about where the program runs it', () => {
  expect([fate('psql', { stdin: '{a}' }), fate('ed', { stdin: 'json' }), fate('cat', { stdin: '{a}' })]).toEqual([
    'asked',
    'asked',
    'runs',
  ]);
});
