/** Kubernetes' suffixes of quantities. */
const SUFFIXES: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** The number that a quantity such as `500m`, `1.5Gi` or `1e3` says; undefined when it says none. */
export function quantityOf(text: string | number | undefined): number | undefined {
  const match = /^(\d+(?:\.\d*)?|\.\d+)(?:([eE][+-]?\d+)|([KMGTP]i|[numkMGTP]))?$/.exec(String(text ?? ''));
  if (match === null) return undefined;
  const [, number, exponent = '', suffix = ''] = match;
  return Number(`${number}${exponent}`) * (SUFFIXES[suffix] ?? 1);
}
