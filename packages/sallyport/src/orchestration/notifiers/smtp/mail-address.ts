/** RFC 5321, section 4.5.3.1.3: 256 octets with the angle brackets. */
const ADDRESS_MAX = 254;
/** Plain addresses only: no quotes, comments or line ends that could begin a header of their own. */
const ADDRESS = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;
const SCHEME = 'mailto:';

/** True when mail may be sent to this address. */
export function isMailAddress(text: string): boolean {
  return text.length <= ADDRESS_MAX && ADDRESS.test(text);
}

/** The address of an approver such as `mailto:ops@example.com`; undefined for any other. */
export function addressOf(approverId: string): string | undefined {
  if (!approverId.startsWith(SCHEME)) return undefined;
  const address = approverId.slice(SCHEME.length);
  return isMailAddress(address) ? address : undefined;
}
