import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { TrustLevel } from '../../api/schemas/capability-token.ts';
import { SideEffectPolicy, type ToolManifest } from '../../api/schemas/tool-manifest.ts';
import type { ValuesOf } from '../domain/settings/setting.ts';
import type { TRUST_SETTINGS } from './gates/gate-settings.ts';

/** Settings of trust. */
export type TrustSettings = ValuesOf<typeof TRUST_SETTINGS>;

/** Outcome of an autonomous call that would need a confirmation: nobody can be asked. */
export type AutonomousCalls = TrustSettings['autonomous'];

/** Computes trust, and what runs without a person's confirmation (PRM-06). */
export interface TrustRules {
  /**
   * The lower of the trust in the agent and in the tool's source; an agent without a stated trust is untrusted.
   * @param asked the call's own limit (EXE-10): it only lowers
   */
  effective(agent: TrustLevel | undefined, manifest: ToolManifest, asked?: TrustLevel): TrustLevel;
  /** True when a call with this side effect runs at this level without confirmation. */
  runsUnconfirmed(level: TrustLevel, sideEffect: SideEffectPolicy): boolean;
  readonly autonomous: AutonomousCalls;
}

/** From least to most. */
const LEVELS: readonly TrustLevel[] = TrustLevel.enum;
const EFFECTS: readonly SideEffectPolicy[] = SideEffectPolicy.enum;

type UnconfirmedTable = Readonly<Record<TrustLevel, ReadonlySet<SideEffectPolicy>>>;

/** Default table of what runs without confirmation. */
const UNCONFIRMED: UnconfirmedTable = {
  untrusted: new Set(['pure']),
  provisional: new Set(['pure', 'idempotent']),
  trusted: new Set(EFFECTS),
};

interface SourceRule {
  readonly prefix: string;
  readonly level: TrustLevel;
}

/**
 * Parses the rules once.
 * @throws ToolLayerError E3801 naming the invalid entry
 */
export function createTrustRules({ sources, unconfirmed, autonomous }: TrustSettings): TrustRules {
  const rules = sourceRules(sources);
  const table = unconfirmedTable(unconfirmed);
  const ofSource = ({ tool_id }: ToolManifest): TrustLevel =>
    rules.find(({ prefix }) => tool_id.startsWith(prefix))?.level ?? 'trusted';
  return {
    autonomous,
    effective(agent = 'untrusted', manifest, asked) {
      const allowed = least(agent, ofSource(manifest));
      return asked === undefined ? allowed : least(allowed, asked);
    },
    runsUnconfirmed: (level, sideEffect) => table[level].has(sideEffect),
  };
}

function least(one: TrustLevel, other: TrustLevel): TrustLevel {
  return LEVELS.indexOf(one) < LEVELS.indexOf(other) ? one : other;
}

/** Longest prefix first. */
function sourceRules(entries: readonly string[]): readonly SourceRule[] {
  const rules = new Map<string, SourceRule>();
  for (const entry of entries) {
    const [start, level] = halves(entry, 'trust.sources', 'github__=provisional');
    const prefix = start.endsWith('*') ? start.slice(0, -1) : start;
    if (rules.has(prefix)) throw faulty('trust.sources', entry, 'says twice how far this source is trusted');
    rules.set(prefix, { prefix, level: levelOf(level, 'trust.sources', entry) });
  }
  return [...rules.values()].sort((a, b) => b.prefix.length - a.prefix.length);
}

function unconfirmedTable(entries: readonly string[]): UnconfirmedTable {
  const table = { ...UNCONFIRMED };
  for (const entry of entries) {
    const [name, list] = halves(entry, 'trust.unconfirmed', 'provisional=pure+idempotent');
    const effects = list === '' ? [] : list.split('+').map((effect) => effect.trim());
    const unknown = effects.find((effect) => !EFFECTS.includes(effect as SideEffectPolicy));
    if (unknown !== undefined)
      throw faulty('trust.unconfirmed', entry, `holds "${unknown}"; there are ${EFFECTS.join(', ')}`);
    table[levelOf(name, 'trust.unconfirmed', entry)] = new Set(effects as SideEffectPolicy[]);
  }
  return table;
}

function halves(entry: string, setting: string, example: string): [string, string] {
  const at = entry.lastIndexOf('=');
  if (at < 1) throw faulty(setting, entry, `is not written like ${example}`);
  return [entry.slice(0, at).trim(), entry.slice(at + 1).trim()];
}

function levelOf(word: string, setting: string, entry: string): TrustLevel {
  const level = LEVELS.find((each) => each === word);
  if (level === undefined) throw faulty(setting, entry, `holds "${word}"; there are ${LEVELS.join(', ')}`);
  return level;
}

const faulty = (setting: string, entry: string, what: string): ToolLayerError =>
  new ToolLayerError('E3801', `The entry "${entry}" of ${setting} ${what}.`);
