import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@sallyport/std/error/failure';
import type { AgentSandboxContext } from '../../packages/sallyport/api/schemas/agent-sandbox-context.ts';
import type { CapabilityClaims } from '../../packages/sallyport/api/schemas/capability-token.ts';
import { computeGrant, realPathOf } from '../../packages/sallyport/src/permission/compute-grant.ts';
import { claimsOf, LAYER, manifestOf } from '../../packages/sallyport/src/permission/grant/grant.fixture.ts';
import { type Figure, figureOf } from '../report/figure.ts';

/** The least of these counts: others use the same machine. */
const ROUNDS = 15;

/** What one grant costs that nobody remembers: token, context of the agent and of the call, four paths, four hosts, links looked for. */
export async function measureGrant(seconds: number): Promise<readonly Figure[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bench-grant-')));
  try {
    const paths = ['a', 'b', 'c', 'd'].map((name) => join(folder, 'work', name));
    for (const path of paths) mkdirSync(path, { recursive: true });
    const manifest = manifestOf({
      filesystem: paths.map((path) => ({ path, mode: 'ro' as const })),
      network: ['api.example.com', '10.1.2.3', '2001:db8::5', 'b.example.org'].map((host) => ({ host, port: 443 })),
      credentials: ['key'],
    });
    const agentContext = contextOf(folder);
    const ms = (seconds * 1000) / ROUNDS / 2;
    const grant = (claims: CapabilityClaims, requestContext: AgentSandboxContext): void => {
      const made = computeGrant({
        manifest,
        claims,
        agentContext,
        requestContext,
        requestLimits: { timeout_seconds: 5, network_bandwidth_mbps: 5 },
        layer: LAYER,
        realPath: realPathOf,
        dnsServers: ['9.9.9.9'],
      });
      if (isFailure(made)) throw new Error(made.message);
    };
    const [claims, requestContext] = [tokenOf(folder), contextOf(folder)];
    const known = rounds(() => cpuUs(() => grant(claims, requestContext), ms));
    const fresh = rounds(() => cpuUs(() => grant(claims, contextOf(folder)), ms));
    return [
      figureOf('grant computed anew, CPU, least of 15 rounds', 'us', Math.min(...known), { atMost: 50 }),
      figureOf('the same, with a context that the call brings, CPU, least of 15 rounds', 'us', Math.min(...fresh), {
        atMost: 50,
      }),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const contextOf = (folder: string): AgentSandboxContext => ({
  resource_limits: { cpu_millicore_limit: 1000, memory_mb_limit: 1024, network_bandwidth_mbps: 10 },
  network_policy: {
    allowed_hosts: ['*.example.com', '*.example.org', '10.0.0.0/8', '2001:db8::/32'],
    allowed_ports: [443],
  },
  filesystem_policy: {
    mounts: [
      { path: '/usr', mode: 'ro' },
      { path: folder, mode: 'rw' },
    ],
  },
});

const tokenOf = (folder: string): CapabilityClaims =>
  claimsOf({
    filesystem_permissions: { allowed_paths: ['/usr', folder], mode: 'rw' },
    network_permissions: {
      allowed_hosts: ['*.example.com', 'b.example.org', '10.0.0.0/8', '2001:db8::5'],
      allowed_ports: [443],
    },
    credential_permissions: { allowed_secrets: ['key'] },
  });

const rounds = (measure: () => number): number[] => Array.from({ length: ROUNDS }, measure);

/** CPU time of one call, in microseconds, over a time. */
function cpuUs(work: () => void, ms: number): number {
  const end = performance.now() + ms;
  const before = process.cpuUsage();
  let count = 0;
  while (performance.now() < end) {
    for (let at = 0; at < 50; at += 1) work();
    count += 50;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}
