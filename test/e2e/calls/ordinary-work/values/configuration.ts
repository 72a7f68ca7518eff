/** Configuration files of build tools, containers, servers, CI systems, editors and shells. */
export const configuration: readonly string[] = [
  `# syntax=docker/dockerfile:1
FROM node:22-alpine AS build
ARG VERSION=dev
WORKDIR /src
COPY package*.json ./
RUN --mount=type=cache,target=/home/node/.npm npm ci && npm cache clean --force
COPY . .
RUN npm run build -- --define "VERSION='$VERSION'" \\
 && rm -rf node_modules/.cache /tmp/*

FROM alpine:3.20
RUN apk add --no-cache tini; adduser -D -u 10001 app
COPY --from=build --chown=app /src/dist /app
USER app
HEALTHCHECK --interval=30s CMD wget -qO- http://localhost:8080/health || exit 1
ENTRYPOINT ["/sbin/tini", "--"]
CMD ["sh", "-c", "exec node /app/server.js --port \${PORT:-8080}"]
`,
  `FROM python:3.12-slim
RUN <<EOF
apt-get update
apt-get install -y --no-install-recommends git
rm -rf /var/lib/apt/lists/*
EOF
ENV PATH="/venv/bin:$PATH" LABEL='it is "quoted"'
`,
  `services:
  web:
    build: { context: ., args: { VERSION: "\${VERSION:?set it}" } }
    ports: ["127.0.0.1:8080:80"]
    command: sh -c 'sleep 2; exec ./serve --dsn "$$DSN"'
    environment:
      DSN: postgres://app:change-me@db:5432/app?sslmode=disable
    depends_on: { db: { condition: service_healthy } }
  db:
    image: postgres:16
    volumes: [data:/var/lib/postgresql/data, ./seed.sql:/docker-entrypoint-initdb.d/seed.sql:ro]
    healthcheck: { test: ["CMD-SHELL", "pg_isready -U app || exit 1"] }
volumes:
  data: {}
`,
  `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: { app: web }
  annotations:
    example.org/script: |
      #!/bin/sh
      kubectl get pods | awk 'NR>1{print $1}' | xargs -n1 echo
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers:
        - name: web
          image: "registry.example.org/web:1.4.2@sha256:EXAMPLE"
          args: ["--name=$(POD_NAME)", '--greeting=it''s me']
          resources: { limits: { cpu: 500m, memory: 256Mi } }
`,
  `apiVersion: v1
kind: Secret
metadata: { name: db, namespace: staging }
type: Opaque
stringData: { password: change-me-EXAMPLE }
data: { note: RVhBTVBMRQ== }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: "empty" }
`,
  `{{- define "web.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end }}
{{- if and .Values.ingress.enabled (gt (len .Values.hosts) 0) }}
hosts: {{ toYaml .Values.hosts | nindent 2 }}
{{- end }}
`,
  `name: ci
on:
  push: { branches: [main] }
  pull_request:
    types: [opened, synchronize]
jobs:
  test:
    runs-on: ubuntu-latest
    strategy: { matrix: { node: [20, 22], exclude: [] } }
    steps:
      - uses: ci-tools/checkout@v4
      - run: |
          npm ci
          npm test -- --reporter=dot 2>&1 | tee test.log
          echo "sha=\${GITHUB_SHA::7}" >> "$GITHUB_OUTPUT"
      - if: \${{ failure() && github.event_name == 'pull_request' }}
        env:
          TITLE: \${{ github.event.pull_request.title }} # never inside of run: it is text from outside
          TOKEN: \${{ secrets.TOKEN }}
        run: printf '%s\\n' "$TITLE" | ./scripts/notify.sh
`,
  `pipeline {
  agent any
  stages {
    stage('Test') {
      steps {
        sh 'make test || (cat *.log; false)'
        sh """curl -fsS -H "X-Build: \${env.BUILD_ID}" 'https://ci.example.org/hook?ok=1&n=2' > /dev/null"""
      }
    }
  }
  post { always { junit '**/reports/*.xml' } }
}
`,
  String.raw`server {
  listen 443 ssl http2;
  server_name example.org *.example.org;
  root /srv/www;
  add_header Content-Security-Policy "default-src 'self'; img-src * data:" always;
  if ($request_uri ~* "(\.\./|<script|union.*select)") { return 403; }
  location ~ \.php$ { fastcgi_pass unix:/run/php.sock; include fastcgi_params; }
  location /api/ {
    rewrite ^/api/(.*)$ /$1?from=proxy&id=$arg_id break;
    proxy_pass http://127.0.0.1:3000;
    proxy_set_header Host $host; # keep
  }
  return 301 https://$host$request_uri;
}
`,
  String.raw`<VirtualHost *:80>
    DocumentRoot "/var/www/html"
    RewriteEngine On
    RewriteCond %{HTTP_HOST} !^www\. [NC]
    RewriteRule ^(.*)$ https://www.%{HTTP_HOST}/$1 [R=301,L]
    <FilesMatch "\.(env|bak|sql)$">
        Require all denied
    </FilesMatch>
    LogFormat "%h %l %u %t \"%r\" %>s %b" common
</VirtualHost>
`,
  String.raw`[Unit]
Description=Example web app (it's "small")
After=network-online.target

[Service]
User=app
EnvironmentFile=-/etc/default/app
ExecStartPre=/bin/sh -c 'test -d /run/app || mkdir -p /run/app; rm -f /run/app/*.sock'
ExecStart=/usr/bin/app --listen ${'$'}{PORT} \
  --tag %i-%H
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
ProtectSystem=strict

[Install]
WantedBy=multi-user.target
`,
  `# m h dom mon dow command
SHELL=/bin/bash
MAILTO=ops@example.org
*/15 6-22 * * 1-5 /usr/local/bin/sync.sh >/dev/null 2>&1
0 3 * * * find /var/backups -name '*.gz' -mtime +30 -delete && echo "$(date +\\%F) ok" >> /var/log/backup.log
@reboot sleep 60; cd /srv/app && ./start.sh &
`,
  `# Copy to .env; never commit .env itself.
DATABASE_URL=postgres://USER:PASSWORD@localhost:5432/app?schema=public&connection_limit=5
API_KEY="<your-key-here>"
SECRET='EXAMPLE-change-me'
GREETING="Hello $USER, it's \`date\`\\nsecond line"
EMPTY= # nothing
export NODE_OPTIONS=--max-old-space-size=4096
`,
  `[package]
name = "frob"
version = "0.3.1"
edition = "2021"
description = '''A 'small' tool'''

[dependencies]
serde = { version = "1", features = ["derive"] }

[target.'cfg(all(unix, not(target_os = "macos")))'.dependencies]
nix = ">=0.27, <0.30"

[profile.release]
lto = true
"quoted key" = "tab\\t \\"q\\" \\u00e9"
`,
  String.raw`[tool.black]
line-length = 100
extend-exclude = '''
/(
  | \.venv
  | build
)/
'''
[project.scripts]
app = "app.cli:main"
[tool.pytest.ini_options]
addopts = "-ra -q --strict-markers -k 'not slow and not (db or net)'"
dates = [2024-11-05T06:30:00Z, 2025-01-01]
`,
  `; php.ini of the staging server
[PHP]
memory_limit = 256M
error_reporting = E_ALL & ~E_DEPRECATED & ~E_STRICT
disable_functions = exec,passthru,shell_exec,system
[Date]
date.timezone = "Europe/Berlin"
[mail function]
sendmail_path = "/usr/sbin/sendmail -t -i -f 'web@example.org'"
`,
  String.raw`{
  "path": "C:\\Users\\me\\new folder\\",
  "regex": "^\\s*<(\\/?)script\\b",
  "quote": "She said \"it's\" \u2014 \/ \b\f\n\r\t",
  "emoji": "\ud83d\ude80",
  "html": "\u003cb onclick=\"x()\"\u003e&amp;",
  "numbers": [0, -1.5e-10, 1E400],
  "": null
}
`,
  String.raw`{
  "name": "@example/site",
  "private": true,
  "scripts": {
    "clean": "rm -rf dist && mkdir dist",
    "build": "tsc -p . && cp -r public/* dist/ || exit 1",
    "dev": "concurrently \"npm:watch:*\" 'node --watch server.js'",
    "kill": "lsof -ti:3000 | xargs kill -9 2>/dev/null; true",
    "postinstall": "node -e \"require('fs').existsSync('.git') && console.log('hi')\""
  },
  "engines": { "node": ">=20 <23 || ^24" }
}
`,
  `// tsconfig.json with comments
{
  "extends": "./base.json", /* strict */
  "compilerOptions": { "target": "es2022", "paths": { "@/*": ["./src/*"] }, "jsx": "react-jsx", },
  "include": ["src/**/*.ts", "!src/**/*.test.ts"]
}
`,
  `terraform {
  required_providers { skyhost = { source = "example/skyhost", version = "~> 2.1" } }
}
variable "names" { type = map(string) }
resource "skyhost_server" "web" {
  for_each  = { for k, v in var.names : k => v if v != "" }
  name      = "web-\${each.key}\${var.env == "prod" ? "" : "-\${var.env}"}"
  user_data = <<-EOT
    #!/bin/bash
    curl -fsSL https://get.example.org/agent.sh | bash -s -- --id '\${each.value}' && echo "$\${HOME} ok"
  EOT
  lifecycle { ignore_changes = [tags["built"]] }
}
output "ips" { value = [for s in skyhost_server.web : s.ip], sensitive = false }
`,
  `- hosts: web
  become: true
  vars: { app_dir: /srv/app, users: "{{ groups['web'] | map('upper') | list }}" }
  tasks:
    - name: Copy the app's files
      ansible.builtin.copy: { src: "dist/", dest: "{{ app_dir }}/", mode: "0644" }
      notify: restart app
    - shell: |
        set -o pipefail
        systemctl is-active app | grep -q ^active && echo 'yes' || echo "no"
      register: out
      changed_when: "'no' in out.stdout and not ansible_check_mode"
  handlers:
    - name: restart app
      service: name=app state=restarted
`,
  `node_modules/
dist
*.log
!important.log
.env*
!.env.example
/build-*/
**/__pycache__/
[Tt]humbs.db
\\#not-a-comment
# a comment
~$*.tmp
`,
  `Host *
  ServerAliveInterval 30
  AddKeysToAgent yes

Host jump bastion-??
  HostName bastion.example.org
  User deploy
  IdentityFile ~/.ssh/id_EXAMPLE

Match host "*.internal.example.org" exec "test -f ~/.vpn; exit $?"
  ProxyCommand ssh -W %h:%p jump 2>/dev/null
  LocalForward 5433 127.0.0.1:5432
`,
  `root = true

[*]
charset = utf-8
end_of_line = lf
indent_style = space
indent_size = 2

[{Makefile,*.mk,**.go}]
indent_style = tab

[*.{md,txt}]
trim_trailing_whitespace = false
`,
  `[user]
	name = Robin Example
	email = robin@example.org
[alias]
	lg = log --graph --pretty=format:'%C(yellow)%h%Creset %s %Cgreen(%cr)'
	wip = "!f() { git add -A && git commit -m \\"wip: \${1:-no message}\\" --no-verify; }; f"
[url "ssh://git@git.example.org/"]
	insteadOf = https://git.example.org/
[core]
	pager = less -FRX # colours
`,
  String.raw`# ~/.bashrc
[ -z "$PS1" ] && return
export PATH="$HOME/bin:$PATH" PS1='\[\e[32m\]\u@\h\[\e[0m\]:\w\$ '
alias ll='ls -la' gs="git status" 'please=sudo $(fc -ln -1)'
mkcd() { mkdir -p -- "$1" && cd -- "$1" || return; }
[[ -f ~/.aliases ]] && . ~/.aliases; shopt -s histappend &>/dev/null
`,
  `global:
  scrape_interval: 15s
scrape_configs:
  - job_name: "node"
    static_configs: [{ targets: ['localhost:9100'] }]
    relabel_configs:
      - { source_labels: [__address__], regex: '([^:]+)(?::\\d+)?', replacement: '$1:9100', target_label: __address__ }
rule_files: ["rules/*.yml"]
no: off
version: 1.10
multi: >-
  folded: text, # no comment,
  and "quotes" & 'more'
`,
  `User-agent: *
Disallow: /admin/
Disallow: /*?sort=
Allow: /$
Sitemap: https://example.org/sitemap.xml?lang=en&v=2
`,
  `vim.opt.listchars = { tab = "» ", trail = "·", nbsp = "␣" }
vim.keymap.set("n", "<leader>w", "<cmd>w<CR>", { silent = true, desc = "Save; don't quit" })
-- set statusline=%f\\ %m%=%l/%L
`,
  `set -g prefix C-a
bind '"' split-window -v -c "#{pane_current_path}"
bind % split-window -h
bind r source-file ~/.tmux.conf \\; display "it's \\"reloaded\\""
set -g status-right '#(uptime | cut -d, -f1) #[fg=green]%H:%M'
`,
  `table inet filter {
  chain input {
    type filter hook input priority 0; policy drop; ct state { established, related } accept
    tcp dport { 22, 80, 443 } accept # "ssh" & web
  }
}
# iptables -A INPUT -p tcp --dport 22 ! -s 192.0.2.0/24 -j DROP
`,
  `%YAML 1.2
---
script: !!str "rm -rf / # quoted in a test of the linter; nothing runs this"
tagged: !custom { a: ~, 'b''c': "\\x41\\u263a", ? complex : *x }
...
`,
];
