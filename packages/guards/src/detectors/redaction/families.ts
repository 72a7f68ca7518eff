import { pathFamily } from './paths.ts';
import { cardFamily } from './personal/card.ts';
import { emailFamily } from './personal/email.ts';
import { ibanFamily } from './personal/iban.ts';
import { ipV4Family, ipV6Family } from './personal/ip.ts';
import { phoneFamily } from './personal/phone.ts';
import { ssnFamily } from './personal/ssn.ts';
import type { Family } from './scan.ts';
import { assignedFamily } from './secrets/assigned.ts';
import { authorizationFamily } from './secrets/authorization.ts';
import { foreignLabelFamily } from './secrets/foreign-labels.ts';
import { jwtFamily } from './secrets/jwt.ts';
import { privateKeyFamily } from './secrets/private-key.ts';
import { providerTokenFamily } from './secrets/provider-tokens.ts';
import { urlCredentialsFamily } from './secrets/url-credentials.ts';
import { writtenPairsFamily } from './secrets/written-pairs.ts';

/** All families. When two find overlapping places, the earlier one determines the kind. */
export const FAMILIES: readonly Family[] = [
  privateKeyFamily,
  providerTokenFamily,
  jwtFamily,
  urlCredentialsFamily,
  assignedFamily,
  authorizationFamily,
  writtenPairsFamily,
  foreignLabelFamily,
  ibanFamily,
  cardFamily,
  ssnFamily,
  ipV4Family,
  ipV6Family,
  emailFamily,
  phoneFamily,
  pathFamily,
];
