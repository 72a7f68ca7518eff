import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { Findings } from './findings.ts';

/** Permissions that a tool newly asks for need a person's review. */
export function comparePermissions(from: ToolManifest, to: ToolManifest, findings: Findings): void {
  compareSets(findings, 'network', hostsOf(from), hostsOf(to));
  compareSets(findings, 'credentials', from.permissions?.credentials ?? [], to.permissions?.credentials ?? []);
  comparePaths(from, to, findings);
}

const hostsOf = ({ permissions }: ToolManifest): string[] =>
  (permissions?.network ?? []).map(({ host, port }) => `${host.toLowerCase()}:${port}`);

function compareSets(findings: Findings, part: string, before: readonly string[], after: readonly string[]): void {
  const was = new Set(before);
  const is = new Set(after);
  for (const [at, one] of after.entries()) if (!was.has(one)) added(findings, `/permissions/${part}/${at}`, one);
  for (const [at, one] of before.entries()) if (!is.has(one)) removed(findings, `/permissions/${part}/${at}`, one);
}

function comparePaths(from: ToolManifest, to: ToolManifest, findings: Findings): void {
  const before = from.permissions?.filesystem ?? [];
  const after = to.permissions?.filesystem ?? [];
  for (const [at, { path, mode }] of after.entries()) {
    const isCovered = before.some((one) => covers(one.path, path) && (one.mode === 'rw' || mode === 'ro'));
    if (!isCovered) added(findings, `/permissions/filesystem/${at}`, `${path} (${mode})`);
  }
  for (const [at, { path, mode }] of before.entries()) {
    const isKept = after.some((one) => covers(one.path, path) && (one.mode === 'rw' || mode === 'ro'));
    if (!isKept) removed(findings, `/permissions/filesystem/${at}`, `${path} (${mode})`);
  }
}

const covers = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);

function added(findings: Findings, path: string, what: string): void {
  const message = `It asks for ${what}, which it did not before.`;
  findings.add({ path, kind: 'permission-added', severity: 'notable', message, needs_review: true });
}

function removed(findings: Findings, path: string, what: string): void {
  const message = `It no longer asks for ${what}.`;
  findings.add({ path, kind: 'permission-removed', severity: 'compatible', message });
}
