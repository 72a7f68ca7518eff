/** Addresses that no request of an agent should reach: loopback, private, shared, link-local, metadata, unspecified. */
const INNER: readonly (readonly [number, number, number, number])[] = [
  [127, 0, 0, 1],
  [127, 8, 9, 10],
  [10, 0, 0, 1],
  [172, 16, 5, 4],
  [192, 168, 1, 1],
  [100, 64, 0, 1],
  [169, 254, 169, 254],
  [168, 63, 129, 16],
  [100, 100, 100, 200],
  [0, 0, 0, 0],
];

type Parts = readonly [number, number, number, number];

const whole = ([a, b, c, d]: Parts): number => a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d;
const groups = (parts: Parts): string => {
  const bits = whole(parts);
  return `${Math.floor(bits / 2 ** 16).toString(16)}:${(bits % 2 ** 16).toString(16)}`;
};
const octal = (part: number): string => `0${part.toString(8)}`;
const hex = (part: number): string => `0x${part.toString(16)}`;
const shifted = (text: string, zero: number): string =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));

/** Ways of writing an address in the host of a URL. */
const FORMS: readonly ((parts: Parts) => string)[] = [
  (parts) => parts.join('.'),
  (parts) => `${parts.join('.')}.`,
  (parts) => String(whole(parts)),
  (parts) => `0x${whole(parts).toString(16)}`,
  (parts) => `0${whole(parts).toString(8)}`,
  (parts) => parts.map(octal).join('.'),
  (parts) => parts.map(hex).join('.'),
  (parts) =>
    parts
      .map((part) =>
        part
          .toString()
          .padStart(9, '0')
          .replace(/^0+(?=.)/, (zeros) => zeros.slice(1)),
      )
      .join('.'),
  ([a, b, c, d]) => `${a}.${octal(b)}.${hex(c)}.${d}`,
  ([a, b, c, d]) => `${a}.${b}.${c * 256 + d}`,
  ([a, b, c, d]) => `${a}.${b * 2 ** 16 + c * 2 ** 8 + d}`,
  (parts) => shifted(parts.join('.'), 0xff10),
  (parts) => parts.join('。'),
  (parts) => [...parts.join('.')].map((char) => `%${char.charCodeAt(0).toString(16)}`).join(''),
  (parts) => `example.com@${parts.join('.')}`,
  (parts) => `${parts.join('.')}@${parts.join('.')}`,
  (parts) => `[::ffff:${parts.join('.')}]`,
  (parts) => `[::ffff:${groups(parts)}]`,
  (parts) => `[0:0:0:0:0:ffff:${groups(parts)}]`,
  (parts) => `[::${parts.join('.')}]`,
  (parts) => `[::ffff:0:${groups(parts)}]`,
  (parts) => `[64:ff9b::${groups(parts)}]`,
  (parts) => `[2002:${groups(parts)}::1]`,
  (parts) => `[fe80::5efe:${groups(parts)}]`,
];

/** Names and addresses that have one form only. */
const OTHERS: readonly string[] = [
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'localhost.localdomain',
    'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
    'ip6-loopback',
    'loc%61lhost',
  ],
  ...['metadata.google.internal', 'METADATA.google.internal.', 'metadata', 'instance-data', 'kubernetes.default.svc'],
  ...['host.docker.internal', 'router.lan', 'db', 'printer.local', 'x.home.arpa', '1.0.0.127.in-addr.arpa'],
  ...['[::1]', '[::]', '[0000::0001]', '[fd00:ec2::254]', '[fe80::1]', '[fc00::1]', '[ff02::1]', '[fec0::1]'],
  ...['0', '0x0', '0.0', '127.1', '127.0.1', '0x7f.1', '017700000001', '0x00000000007f000001'],
];

/** URLs that lead inside, each address in every form. */
export const INNER_URLS: readonly string[] = [
  ...INNER.flatMap((parts) => FORMS.map((form) => `http://${form(parts)}/latest`)),
  ...OTHERS.map((host) => `https://${host}/`),
];
