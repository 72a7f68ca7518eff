import { canonicalJson } from '@sallyport/std/json/canonical-json';
import type { ChangeSeverity } from '../../../../api/schemas/registry/tool-comparison.ts';
import { SideEffectPolicy, type ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { sideEffectOf } from '../../../domain/tool/tool-version.ts';
import { type Findings, shown } from './findings.ts';

/** From harmless to severe. */
const SIDE_EFFECTS: readonly SideEffectPolicy[] = SideEffectPolicy.enum;

/** Compares the manifests beyond schemas and permissions. */
export function compareBehaviour(from: ToolManifest, to: ToolManifest, findings: Findings): void {
  if (from.tool_id !== to.tool_id) {
    const message = `These are two tools, ${from.tool_id} and ${to.tool_id}.`;
    findings.add({ path: '/tool_id', kind: 'tool-id-changed', severity: 'breaking', message });
  }
  compareSideEffects(from, to, findings);
  comparePromises(from, to, findings);
  compareExecutor(from, to, findings);
  compareConfirmations(from, to, findings);
  compareDependencies(from, to, findings);
  compareExecution(from, to, findings);
  for (const [member, severity] of Object.entries(OTHERS)) compareOther(from, to, member, severity, findings);
}

function compareSideEffects(from: ToolManifest, to: ToolManifest, findings: Findings): void {
  const [was, is] = [sideEffectOf(from), sideEffectOf(to)];
  if (was === is) return;
  const isGraver = SIDE_EFFECTS.indexOf(is) > SIDE_EFFECTS.indexOf(was);
  findings.add({
    path: '/side_effect_policy',
    kind: isGraver ? 'side-effects-graver' : 'side-effects-milder',
    severity: isGraver ? 'breaking' : 'notable',
    message: `A call was ${was} and is now ${is}.`,
    needs_review: true,
  });
}

function comparePromises(from: ToolManifest, to: ToolManifest, findings: Findings): void {
  for (const member of ['idempotent', 'deterministic'] as const) {
    const [was, is] = [from[member] === true, to[member] === true];
    if (was === is) continue;
    const lost = member === 'idempotent' ? 'breaking' : 'notable';
    findings.add({
      path: `/${member}`,
      kind: is ? `${member}-promised` : `${member}-withdrawn`,
      severity: is ? 'compatible' : lost,
      message: is ? `It promises to be ${member} now.` : `It no longer promises to be ${member}.`,
    });
  }
}

function compareExecutor({ executor: from }: ToolManifest, { executor: to }: ToolManifest, findings: Findings): void {
  if (from.kind !== to.kind) {
    const message = `It is run by ${to.kind} instead of ${from.kind}.`;
    findings.add({
      path: '/executor/kind',
      kind: 'executor-changed',
      severity: 'notable',
      message,
      needs_review: true,
    });
  } else if (!isEqual(from, to)) {
    const message = 'It is run with another configuration.';
    const kind = 'executor-config-changed';
    findings.add({ path: '/executor/config', kind, severity: 'notable', message, needs_review: true });
  }
}

function compareConfirmations(from: ToolManifest, to: ToolManifest, findings: Findings): void {
  const asked = [
    ['/requires_confirmation', 'confirmation', from.requires_confirmation, to.requires_confirmation],
    [
      '/execution_config/requires_approval',
      'approval',
      from.execution_config?.requires_approval,
      to.execution_config?.requires_approval,
    ],
  ] as const;
  for (const [path, what, before, after] of asked) {
    if ((before === true) === (after === true)) continue;
    const isAsked = after === true;
    const message = isAsked ? `A call needs ${what} now.` : `A call no longer needs ${what}.`;
    const review = isAsked ? {} : { needs_review: true as const };
    findings.add({ path, kind: `${what}-${isAsked ? 'added' : 'removed'}`, severity: 'notable', message, ...review });
  }
}

function compareDependencies(from: ToolManifest, to: ToolManifest, findings: Findings): void {
  const was = new Set(from.requires);
  const is = new Set(to.requires);
  const path = '/requires';
  for (const id of is) {
    const message = `${id} must have completed before it is offered.`;
    if (!was.has(id)) findings.add({ path, kind: 'requirement-added', severity: 'breaking', message });
  }
  for (const id of was) {
    const message = `${id} need no longer have completed before.`;
    if (!is.has(id)) findings.add({ path, kind: 'requirement-removed', severity: 'compatible', message });
  }
}

/** Limits of a call: a lower one may end calls that passed before. */
const LIMITS = {
  default_timeout_seconds: ['timeout', 's'],
  default_cpu_millicore_limit: ['CPU', 'millicores'],
  default_memory_mb_limit: ['memory', 'MB'],
  output_bytes_max: ['output', 'bytes'],
} as const;

function compareExecution(
  { execution_config: from = {} }: ToolManifest,
  { execution_config: to = {} }: ToolManifest,
  findings: Findings,
): void {
  for (const [member, [what, unit]] of Object.entries(LIMITS) as [keyof typeof LIMITS, readonly [string, string]][]) {
    const [was, is] = [from[member], to[member]];
    if (was === is) continue;
    const isLess = (is ?? Number.POSITIVE_INFINITY) < (was ?? Number.POSITIVE_INFINITY);
    const text = (value: number | undefined): string => (value === undefined ? 'the default' : `${value} ${unit}`);
    findings.add({
      path: `/execution_config/${member}`,
      kind: isLess ? 'limit-lowered' : 'limit-raised',
      severity: isLess || was === undefined || is === undefined ? 'notable' : 'compatible',
      message: `The ${what} of a call was ${text(was)} and is now ${text(is)}.`,
    });
  }
  for (const member of ['retry_policy', 'circuit_breaker_config', 'rate_limit'] as const) {
    if (isEqual(from[member], to[member])) continue;
    const message = `${member} was ${shown(from[member])} and is now ${shown(to[member])}.`;
    findings.add({ path: `/execution_config/${member}`, kind: `${member}-changed`, severity: 'notable', message });
  }
}

/** Members that are compared as a whole. */
const OTHERS = {
  description: 'notable',
  tool_name: 'notable',
  category: 'compatible',
  tags: 'compatible',
  document_dependencies: 'notable',
  compensation_tool_id: 'notable',
  confirmation_prompt: 'notable',
  idempotency_key_fields: 'notable',
  prefers: 'compatible',
  compatibility_range: 'notable',
} as const satisfies Partial<Record<keyof ToolManifest, ChangeSeverity>>;

function compareOther(
  from: ToolManifest,
  to: ToolManifest,
  member: string,
  severity: ChangeSeverity,
  findings: Findings,
): void {
  const [was, is] = [from[member as keyof typeof OTHERS], to[member as keyof typeof OTHERS]];
  if (isEqual(was, is)) return;
  findings.add({ path: `/${member}`, kind: `${member}-changed`, severity, message: `${member} changed.` });
}

const isEqual = (one: unknown, other: unknown): boolean => canonicalJson(one ?? null) === canonicalJson(other ?? null);
