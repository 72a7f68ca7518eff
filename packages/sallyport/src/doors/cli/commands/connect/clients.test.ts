import { expect, test } from 'vitest';
import { CLIENTS } from './clients.ts';

const LINUX = { platform: 'linux', home: '/home/ada', env: {} };
const MAC = { platform: 'darwin', home: '/Users/ada', env: {} };

test.each([
  [
    'claude-desktop',
    '.config/Claude/claude_desktop_config.json',
    'Library/Application Support/Claude/claude_desktop_config.json',
  ],
  ['claude-code', '.claude.json', '.claude.json'],
  ['cursor', '.cursor/mcp.json', '.cursor/mcp.json'],
  ['vscode', '.config/Code/User/mcp.json', 'Library/Application Support/Code/User/mcp.json'],
  ['windsurf', '.codeium/windsurf/mcp_config.json', '.codeium/windsurf/mcp_config.json'],
  ['codex', '.codex/config.toml', '.codex/config.toml'],
  ['gemini', '.gemini/settings.json', '.gemini/settings.json'],
  ['zed', '.config/zed/settings.json', '.config/zed/settings.json'],
])('API-05 the settings of %s are where the client documents them', (name, linux, mac) => {
  expect(CLIENTS[name]?.file(LINUX)).toBe(`/home/ada/${linux}`);
  expect(CLIENTS[name]?.file(MAC)).toBe(`/Users/ada/${mac}`);
});

test('API-05 a folder that the environment names goes before the usual one', () => {
  const env = { XDG_CONFIG_HOME: '/x', CODEX_HOME: '/c' };
  const files = ['vscode', 'zed', 'codex'].map((name) => CLIENTS[name]?.file({ ...LINUX, env }));
  expect(files).toEqual(['/x/Code/User/mcp.json', '/x/zed/settings.json', '/c/config.toml']);
});
