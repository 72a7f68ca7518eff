/** What a coercion converts, beside what numbers, booleans and texts write alike. */
export interface CoercionRules {
  /** Texts that name one day or one instant in another spelling than `date` and `date-time` ask for. */
  readonly dates: boolean;
  /** Numbers that can only be Unix seconds or milliseconds, where a `date-time` is asked for. */
  readonly epochs: boolean;
}

/** Rules that hold when nothing else is said. */
export const COERCION: CoercionRules = { dates: true, epochs: false };
