import { join } from 'node:path';

/** Command that a client starts. */
export interface StdioEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Address that a client connects to. */
export interface HttpEntry {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Folders where the user's programs keep their settings. */
export interface UserPlaces {
  readonly platform: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The settings file of one MCP client, and the form in which that file names a server. */
export interface ClientForm {
  readonly title: string;
  readonly format: 'json' | 'toml';
  /** Name of the table that holds the servers. */
  readonly table: string;
  file(places: UserPlaces): string;
  stdio(entry: StdioEntry): object;
  /** Absent when the client's file cannot hold addresses. */
  readonly http?: (entry: HttpEntry) => object;
}

const inHome =
  (...parts: readonly string[]) =>
  ({ home }: UserPlaces): string =>
    join(home, ...parts);

/** Settings of desktop programs, by platform. */
const inSettings =
  (...parts: readonly string[]) =>
  ({ platform, home, env }: UserPlaces): string => {
    if (platform === 'darwin') return join(home, 'Library', 'Application Support', ...parts);
    if (platform === 'win32') return join(env['APPDATA'] ?? join(home, 'AppData', 'Roaming'), ...parts);
    return join(env['XDG_CONFIG_HOME'] ?? join(home, '.config'), ...parts);
  };

const asIs = (entry: StdioEntry): object => entry;
const typed = (entry: StdioEntry): object => ({ type: 'stdio', ...entry });
const typedHttp = (entry: HttpEntry): object => ({ type: 'http', ...entry });

/** The clients that `sallyport connect` knows, by name; each form is as documented by the client. */
export const CLIENTS: Readonly<Record<string, ClientForm>> = {
  'claude-desktop': {
    title: 'Claude Desktop',
    format: 'json',
    table: 'mcpServers',
    file: inSettings('Claude', 'claude_desktop_config.json'),
    stdio: asIs,
  },
  'claude-code': {
    title: 'Claude Code',
    format: 'json',
    table: 'mcpServers',
    file: inHome('.claude.json'),
    stdio: typed,
    http: typedHttp,
  },
  cursor: {
    title: 'Cursor',
    format: 'json',
    table: 'mcpServers',
    file: inHome('.cursor', 'mcp.json'),
    stdio: asIs,
    http: (entry) => entry,
  },
  vscode: {
    title: 'Visual Studio Code',
    format: 'json',
    table: 'servers',
    file: inSettings('Code', 'User', 'mcp.json'),
    stdio: typed,
    http: typedHttp,
  },
  windsurf: {
    title: 'Windsurf',
    format: 'json',
    table: 'mcpServers',
    file: inHome('.codeium', 'windsurf', 'mcp_config.json'),
    stdio: asIs,
    http: ({ url, headers }) => ({ serverUrl: url, headers }),
  },
  codex: {
    title: 'Codex',
    format: 'toml',
    table: 'mcp_servers',
    file: (places) => join(places.env['CODEX_HOME'] ?? join(places.home, '.codex'), 'config.toml'),
    stdio: asIs,
    http: ({ url, headers }) => ({ url, http_headers: headers }),
  },
  gemini: {
    title: 'Gemini CLI',
    format: 'json',
    table: 'mcpServers',
    file: inHome('.gemini', 'settings.json'),
    stdio: asIs,
    http: ({ url, headers }) => ({ httpUrl: url, headers }),
  },
  zed: {
    title: 'Zed',
    format: 'json',
    table: 'context_servers',
    file: ({ home, env, platform }) =>
      platform === 'win32'
        ? join(env['APPDATA'] ?? join(home, 'AppData', 'Roaming'), 'Zed', 'settings.json')
        : join(
            (platform === 'linux' ? env['XDG_CONFIG_HOME'] : undefined) ?? join(home, '.config'),
            'zed',
            'settings.json',
          ),
    stdio: asIs,
    http: (entry) => entry,
  },
};
