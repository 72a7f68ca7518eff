import type { PolicyQuestion } from '../../../packages/sallyport/src/permission/policy-engine.port.ts';

/** Agents and tools that questions are about; each is a question of its own. */
const AGENTS = 50;
const TOOLS = 20;

/**
 * Policies of a house with many agents: one permit, then forbids for single agents and sources, single tools, and, every
 * thirtieth, for all calls.
 */
export function policyText(count: number): string {
  const written = ['permit (principal, action, resource);'];
  for (let at = 1; at < count; at += 1) written.push(forbid(at));
  return written.join('\n');
}

function forbid(at: number): string {
  const host = `evil${at}.example.com`;
  if (at % 30 === 0) return `forbid (principal, action, resource) when { context.hosts.contains("${host}") };`;
  if (at % 3 === 0)
    return `forbid (principal, action, resource == Tool::"files__tool${at}") when { context.hosts.contains("${host}") };`;
  return `forbid (principal == Agent::"did:${at}", action == Action::"invoke", resource in Source::"source${at}")
when { resource.sideEffect == "irreversible" && !principal.roles.contains("operator") };`;
}

/** Questions of several agents about several tools, none the same as another. */
export const QUESTIONS: readonly PolicyQuestion[] = Array.from({ length: AGENTS * TOOLS }, (_, at) => ({
  principal: { tenantId: 'acme', agentDid: `did:${at % AGENTS}`, roles: ['agent'], trust: 'trusted' },
  toolId: `files__tool${Math.floor(at / AGENTS)}`,
  toolVersion: '1.0.0',
  contentHash: 'a'.repeat(64),
  source: 'files',
  executor: 'mcp',
  category: 'file_system',
  tags: ['disk'],
  sideEffect: 'irreversible',
  argumentFindings: [],
  trust: 'trusted',
  grant: {
    filesystem: [{ path: '/srv/reports', mode: 'rw' }],
    network: [{ host: 'api.example.com', port: 443 }],
    credentials: ['key'],
    limits: { timeoutMs: 30_000, cpuMillicores: 500, memoryMb: 1024, outputBytesMax: 1024 },
  },
}));
