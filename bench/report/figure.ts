/** One figure of a benchmark: what was measured, what it should be, and what a peer reached in the same run. */
export interface Figure {
  readonly figure: string;
  /** Median over the rounds; null when it could not be measured. */
  readonly value: number | null;
  readonly unit: string;
  /** `<= 60` or `>= 4000`, in the figure's unit; null for a figure that is only shown. */
  readonly target: string | null;
  /** Null without a target, or without what is needed to judge it. */
  readonly holds: boolean | null;
  /** Name of the peer; with the reason in brackets when it could not be measured. */
  readonly peer?: string;
  readonly peer_value?: number | null;
}

/** What a benchmark prints. */
export interface Report {
  readonly bench: string;
  readonly node: string;
  readonly load: MachineLoad;
  readonly figures: readonly Figure[];
}

/** How busy the machine was before the run, and how large it is. */
export interface MachineLoad {
  /** Processes that ran or wanted to, on average of the last minute. */
  readonly average_1m: number;
  readonly cpus: number;
}

/** A bound that a figure should keep. */
export type Bound = { readonly atMost: number } | { readonly atLeast: number };

/** A figure of ours, with or without a bound. Undefined stands for what could not be measured. */
export function figureOf(figure: string, unit: string, value: number | undefined, bound?: Bound): Figure {
  const rounded = value === undefined ? null : threeDigits(value);
  if (bound === undefined) return { figure, value: rounded, unit, target: null, holds: null };
  return {
    figure,
    value: rounded,
    unit,
    target: targetOf(bound),
    holds: value === undefined ? null : keeps(value, bound),
  };
}

/** The same figure beside a peer's. */
export function besidePeer(figure: Figure, peer: string, peerValue: number | undefined): Figure {
  return { ...figure, peer, peer_value: peerValue === undefined ? null : threeDigits(peerValue) };
}

function targetOf(bound: Bound): string {
  return 'atMost' in bound ? `<= ${threeDigits(bound.atMost)}` : `>= ${threeDigits(bound.atLeast)}`;
}

function keeps(value: number, bound: Bound): boolean {
  return 'atMost' in bound ? value <= bound.atMost : value >= bound.atLeast;
}

/** More digits than three would claim what no run shows. */
function threeDigits(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}
